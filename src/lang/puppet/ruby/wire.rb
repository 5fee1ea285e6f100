# frozen_string_literal: true

# Gems take longer to load than all the rest: they come when somebody names them, or wants a library that is nowhere else.
autoload :Gem, 'rubygems'

# Where libraries and other files of the project are.
module Tutti
  LIBRARIES = [] # the folders `lib` of the project's modules
  LOADED = {}

  module_function

  # Once only: what rubygems itself looks for while it is loaded may well be missing.
  def gems? = @gems || !(@gems = true)

  def library(name)
    return if name.start_with?('/') || LIBRARIES.empty?
    file = name.end_with?('.rb') ? name : "#{name}.rb"
    folder = LIBRARIES.find { |dir| File.file?(File.join(dir, file)) }
    folder && File.join(folder, file)
  end

  def use_libraries(folders)
    return if folders.nil? # the same as before
    LIBRARIES.replace(folders)
    $LOAD_PATH.unshift(*(folders - $LOAD_PATH))
  end

  def load_file(file)
    LOADED[file] ||= begin
      eval(File.read(file, encoding: 'UTF-8'), TOPLEVEL_BINDING.dup, file)
      true
    end
  end
end

module Kernel
  alias plain_require require

  # A library of the project's modules comes before one installed; what is Puppet's own is here already.
  def require(name)
    own = Tutti.library(name)
    return plain_require(own) if own
    return false if name.match?(%r{\A(puppet|facter|hiera)(/|\z)})
    begin
      loaded = plain_require(name)
      Tutti.look_up_through_compiler if name == 'resolv'
      loaded
    rescue LoadError
      raise if Tutti.gems?
      plain_require('rubygems') # it puts its own `require` in the place of this one, and calls this one
      require(name)
    end
  end
  private :require, :plain_require
end

require 'erb'
require 'json'

# Puppet has these loaded, so modules use them without a word. They come when they are first used: YAML alone takes longer than
# Ruby needs to start.
{ Base64: 'base64', Date: 'date', DateTime: 'date', Digest: 'digest', Etc: 'etc', FileUtils: 'fileutils', IPAddr: 'ipaddr', OpenSSL: 'openssl',
  OpenStruct: 'ostruct', Pathname: 'pathname', Psych: 'psych', SecureRandom: 'securerandom', Set: 'set', Shellwords: 'shellwords', Socket: 'socket',
  StringIO: 'stringio', Tempfile: 'tempfile', URI: 'uri', YAML: 'yaml' }.each { |name, library| Object.autoload(name, library) }
{ 'yaml' => [[Object, :to_yaml]], 'set' => [[Enumerable, :to_set]], 'time' => [[Time.singleton_class, :parse], [Time, :iso8601]],
  'shellwords' => [[String, :shellescape], [String, :shellsplit], [Array, :shelljoin]] }.each do |library, methods|
  methods.each do |owner, name|
    owner.define_method(name) do |*args, **options, &block|
      owner.remove_method(name) # the library brings its own
      require library
      public_send(name, *args, **options, &block)
    end
  end
end

# Talking to the compiler.
module Tutti
  OUT = IO.for_fd(3, 'w')
  OUT.sync = true

  # Ends with the compiler, whatever a template is doing.
  compiler = Process.ppid
  Thread.new { sleep 1 while Process.ppid == compiler; exit!(1) }

  module_function

  def encode(value)
    case value
    when nil, true, false, String, Integer then value.is_a?(String) ? text(value) : value
    when Float then value
    when Symbol then value == :undef ? nil : value == :default ? { '$' => 'default' } : { '$' => 'symbol', 'text' => value.to_s }
    when Array then value.map { |v| encode(v) }
    when Hash
      if value.keys.all? { |k| k.is_a?(String) || k.is_a?(Symbol) }
        value.each_with_object({}) { |(k, v), h| h[k.to_s] = encode(v) }
      else
        { '$' => 'hash', 'pairs' => value.map { |k, v| [encode(k), encode(v)] } }
      end
    when Regexp then { '$' => 'regexp', 'text' => value.source }
    when Puppet::Pops::Types::PSensitiveType::Sensitive then { '$' => 'sensitive', 'value' => encode(value.unwrap) }
    when Puppet::Pops::Types::PBinaryType::Binary then { '$' => 'binary', 'text' => value.to_s }
    when TypeText then { '$' => 'type', 'text' => value.to_s }
    when Deferred then { '$' => 'deferred', 'fields' => encode({ 'name' => value.name, 'arguments' => value.arguments }.compact) }
    when Puppet::Resource then { '$' => 'type', 'text' => value.to_s }
    when Puppet::LookupContext then { '$' => 'context', 'number' => value.number }
    else value.class.name == 'Set' ? value.map { |v| encode(v) } : text(value.to_s)
    end
  end

  def text(value)
    return value if value.encoding == Encoding::UTF_8 && value.valid_encoding?
    plain = value.dup.force_encoding(Encoding::UTF_8)
    plain.valid_encoding? ? plain : { '$' => 'binary', 'text' => [value].pack('m0') }
  end

  def decode(value)
    case value
    when Array then value.map { |v| decode(v) }
    when Hash
      return value.transform_values { |v| decode(v) } unless value.key?('$')
      case value['$']
      when 'default' then :default
      when 'symbol' then value['text'].to_sym
      when 'regexp' then Regexp.new(value['text'])
      when 'sensitive' then Puppet::Pops::Types::PSensitiveType::Sensitive.new(decode(value['value']))
      when 'type' then TypeText.new(value['text'])
      when 'deferred' then Deferred.new(*decode(value['fields']).values_at('name', 'arguments'))
      when 'context' then Puppet::LookupContext.new(value['number'], value['memory'], value['environment_name'], value['module_name'])
      when 'binary' then Puppet::Pops::Types::PBinaryType::Binary.new(value['text'])
      when 'hash' then value['pairs'].to_h { |k, v| [decode(k), decode(v)] }
      end
    else value
    end
  end

  def say(message)
    OUT.write(JSON.generate(message, max_nesting: 0), "\n")
  end

  # Before it replies the compiler may have a request of its own: a template that calls template() is rendered meanwhile.
  def ask(question)
    say(question)
    loop do
      reply = hear
      return reply_of(reply) unless reply.key?('op')
      answer(reply)
    end
  end

  def hear
    line = $stdin.gets or exit!(0)
    JSON.parse(line, max_nesting: 0)
  end

  def reply_of(reply)
    raise Puppet::ParseError, reply['error'] if reply.key?('error')
    decode(reply['value'])
  end

  # A call that the agent is to make.
  Deferred = Struct.new(:name, :arguments)

  # A Puppet type or resource reference, known here by its text only.
  TypeText = Struct.new(:to_s) do
    def type() = to_s[/\A[^\[]*/]
    def title() = to_s[/\[['"]?(.*?)['"]?\]\z/, 1]
    def inspect() = to_s
  end
end
