# frozen_string_literal: true

# Gems take longer to load than all the rest: they come when somebody names them, or wants a library that is nowhere else.
autoload :Gem, 'rubygems'

module Kernel
  alias plain_require require

  def require(name)
    plain_require(name)
  rescue LoadError
    Kernel.alias_method(:require, :plain_require) # gems put their own in its place
    plain_require('rubygems')
    require(name)
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
      when 'context' then Puppet::LookupContext.new(value['number'], value['environment_name'], value['module_name'])
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
      line = $stdin.gets or exit!(0)
      reply = JSON.parse(line, max_nesting: 0)
      return reply_of(reply) unless reply.key?('op')
      answer(reply)
    end
  end

  def reply_of(reply)
    raise (reply['refused'] ? Refused : Puppet::ParseError), reply['error'] if reply.key?('error')
    decode(reply['value'])
  end

  # What a function gave back, and the type it promised.
  Returned = Struct.new(:value, :type, :aliases)

  # A Puppet type or resource reference, known here by its text only.
  TypeText = Struct.new(:to_s) do
    def type() = to_s[/\A[^\[]*/]
    def title() = to_s[/\[['"]?(.*?)['"]?\]\z/, 1]
    def inspect() = to_s
  end
end

# Messages are not translated.
module Kernel
  def _(text) = text
  def n_(one, many, count) = count == 1 ? one : many
end

module Puppet
  class Error < RuntimeError; end
  class DevError < Error; end
  class ParseError < Error
    def initialize(message = nil, *_where) = super(message)
  end
  class ArgumentError < Error; end
  class ExecutionFailure < Error; end
  class PreformattedError < ParseError; end
  module DataBinding
    class LookupError < Puppet::Error
      def initialize(message = nil, *_where) = super(message)
    end
    class RecursiveLookupError < LookupError; end
  end

  # What a Hiera backend is given besides key and options. Its cache is the compiler's; files are read here.
  class LookupContext
    FILES = {}
    attr_reader :number, :environment_name, :module_name
    def initialize(number, environment, mod)
      @number, @environment_name, @module_name = number, environment, mod
    end
    %i[interpolate cache cache_all cache_has_key cached_value].each { |name| define_method(name) { |*args| method_of(name, *args) } }
    def not_found = throw(:no_such_key, Tutti::ABSENT)
    def explain = method_of(:explain, yield.to_s)
    def cached_entries(&block)
      entries = method_of(:cached_entries)
      return entries.each unless block
      entries.each { |k, v| block.arity == 2 ? yield(k, v) : yield([k, v]) }
      nil
    end
    def cached_file_data(path)
      stat = File.stat(path)
      key = [path, stat.ino, stat.mtime, stat.size]
      return FILES[key] if FILES.key?(key)
      content = File.read(path, encoding: 'UTF-8')
      FILES[key] = block_given? ? yield(content) : content
    end
    private def method_of(name, *args) = Tutti.ask('ask' => 'method', 'number' => @number, 'name' => name, 'args' => Tutti.encode(args))
  end

  def self.version = '7.23.0'
  def self.[](name) = settings[name]
  def self.settings = @settings ||= Hash.new { |h, k| h[k.to_sym] unless k.is_a?(Symbol) }
  def self.lookup(_name) = nil
  def self.features = Features.new
  def self.warn_once(_kind, _key, message, *_) = warning(message)
  def self.deprecation_warning(message, *_) = warning(message)
  %i[debug info notice warning err alert emerg crit].each do |level|
    define_singleton_method(level) { |*text, &block| Tutti.ask('ask' => 'log', 'level' => level, 'text' => (block ? block.call : text.join(' '))); nil }
  end
  class Features
    def method_missing(name, *) = name.end_with?('?') ? false : super
    def respond_to_missing?(*) = true
  end

  module Util
    def self.absolute_path?(path, _platform = nil) = path.to_s.start_with?('/')
    def self.deterministic_rand_int(seed, max) = Random.new(seed).rand(max)
    def self.deterministic_rand(seed, max) = deterministic_rand_int(seed, max).to_s
    def self.execute(*args) = Execution.execute(*args)
    def self.which(name) = ENV['PATH'].split(':').map { |d| File.join(d, name) }.find { |f| File.executable?(f) }
    module Package
      module_function
      def versioncmp(one, other, *_) = Tutti.ask('ask' => 'call', 'name' => 'versioncmp', 'args' => [one, other])
    end
    module Execution
      def self.execute(command, *_)
        out = command.is_a?(Array) ? IO.popen(command, &:read) : `#{command}`
        raise ExecutionFailure, "Execution of '#{[command].flatten.join(' ')}' returned #{$?.exitstatus}: #{out}" unless $?.success?
        out
      end
    end
    module Json
      def self.load(text, *_) = JSON.parse(text)
      def self.dump(value, *_) = JSON.generate(value)
    end
    module Yaml
      def self.safe_load(text, *_) = (require('yaml'); YAML.safe_load(text))
    end
    module Errors; end
    module Logging; end
    class TagSet < Set; end
  end

  module Pops
    module Types
      class PSensitiveType
        class Sensitive
          def initialize(value) = @value = value
          def unwrap = @value
          def to_s = 'Sensitive [value redacted]'
          alias inspect to_s
          def ==(other) = other.is_a?(Sensitive) && other.unwrap == @value
        end
      end
      class PBinaryType
        # Bytes; as text they are base64.
        class Binary
          def initialize(text) = @text = text
          def to_s = @text
          def binary_buffer = @text.unpack1('m')
          def length = binary_buffer.bytesize
          def ==(other) = other.is_a?(Binary) && other.to_s == @text
        end
      end
      module Iterable
        def self.asserted_iterable(_function, value, *_) = value.each
      end
      module TypeCalculator
        def self.instance?(type, value) = Tutti.ask('ask' => 'instance', 'type' => type.to_s, 'args' => [Tutti.encode(value)])
        def self.infer_set(value) = Tutti::TypeText.new(value.class.to_s)
      end
      class TypeParser
        def self.singleton = new
        def parse(text, *_) = Tutti::TypeText.new(text)
      end
    end
    module Serialization
      module ToDataConverter
        def self.convert(value, *_) = value
      end
    end
    module PuppetStack
      def self.stacktrace = []
      def self.top_of_stack = []
    end
  end

  class Module
    Found = Struct.new(:path, :name)
    def self.find(name, *_)
      path = Tutti.ask('ask' => 'call', 'name' => 'module_directory', 'args' => [name])
      path && Found.new(path, name)
    end
  end

  class Resource
    attr_reader :type, :title
    def initialize(type, title = nil, *_)
      @type, @title = title.nil? ? self.class.type_and_title(type, nil) : [type, title]
      @type = @type.to_s.split('::').map(&:capitalize).join('::')
    end
    def self.type_and_title(type, title) = title.nil? && type.to_s =~ /\A([^\[\]]+)\[(.+)\]\z/m ? [$1, $2] : [type, title]
    def to_s = "#{@type}[#{@title}]"
  end

  module Parser
    module Files
      def self.find_template(name, _environment = nil) = Tutti.ask('ask' => 'call', 'name' => 'find_template', 'args' => [name])
    end

    # The interface of before Puppet 4: functions are blocks, self is the scope, undef arrives as an empty string.
    module Functions
      KNOWN = {}
      module Environment; end
      def self.newfunction(name, options = {}, &body)
        KNOWN[name.to_sym] = { body: body, rvalue: options[:type] == :rvalue, arity: options[:arity] || -1 }
        Scope.define_method("function_#{name}__here", &body) if body
        KNOWN[name.to_sym]
      end
      def self.function(name, *_)
        KNOWN.key?(name.to_sym) || Scope.instance_methods.include?(:"function_#{name}") ? "function_#{name}" : "function_#{name}"
      end
      def self.rvalue?(name, *_) = KNOWN.fetch(name.to_sym, {})[:rvalue]
      def self.autoloader = Autoloader
      module Autoloader
        def self.load(*) = true
        def self.loaded?(*) = true
        def self.loadall(*) = true
      end
    end

    class Scope
      Compiler = Struct.new(:environment, :catalog, :node) do
        def topscope = Puppet::SCOPE
      end
      # The node a catalog is compiled for.
      class NodeView
        def name = about['node']
        def to_s = name
        def environment = Puppet::SCOPE.environment
        def environment_name = environment.name
        def facts = Facts.new(name, parameter('facts') || {})
        def parameters = (parameter('facts') || {}).merge(about['node_parameters'])
        def trusted_data = parameter('trusted') || {}
        def classes = about['node_classes'].empty? ? [] : about['node_classes']
        Facts = Struct.new(:name, :values)
        private def about = Puppet::SCOPE.context
        private def parameter(name) = Tutti.ask('ask' => 'var', 'name' => name)
      end
      EnvironmentName = Struct.new(:name) do
        def to_s = name.to_s
        def to_sym = name.to_sym
        def module(name) = Puppet::Module.find(name)
        def modulepath = Tutti.ask('ask' => 'context')['modulepath']
      end
      Source = Struct.new(:name, :type, :module_name)

      # What Ruby code sets stays on this side too, until the outermost request is answered: it may change yet.
      def own = @own ||= {}
      def setvar(name, value, *_)
        Tutti.ask('ask' => 'set', 'name' => name.to_s, 'value' => Tutti.encode(value))
        own[name.to_s] = value
      end
      def lookupvar(name, *_)
        own.fetch(name.to_s) { Tutti.ask('ask' => 'var', 'name' => name.to_s.delete_prefix('::')) }
      end
      alias [] lookupvar
      def include?(name) = !lookupvar(name).nil?
      alias exist? include?
      alias bound? include?
      def to_hash(*) = Tutti.ask('ask' => 'all')
      def lookupdefaults(type) = Tutti.ask('ask' => 'defaults', 'type' => type.to_s).transform_keys(&:to_sym)
      def findresource(type, title = nil)
        ref = title.nil? ? type.to_s : "#{type}[#{title}]"
        found = Tutti.ask('ask' => 'resource', 'ref' => ref)
        found && ResourceView.new(ref, found)
      end
      alias resource_type_and_title findresource
      ResourceView = Struct.new(:ref, :parameters) do
        def [](name) = parameters[name.to_s]
        def to_hash = parameters.transform_keys(&:to_sym)
        def to_s = ref == 'Class[Main]' ? 'Class[main]' : ref
      end
      def context = Tutti.ask('ask' => 'context')
      def tags = context['tags']
      def catalog = self
      def classes = context['classes']
      def compiler = Compiler.new(environment, self, node)
      def environment = EnvironmentName.new(context['environment'].to_sym)
      def resource = ResourceView.new(context['resource'], {})
      def source = Source.new(context['class'], :hostclass, context['module'])
      def call_function(name, args, &block) = Tutti.ask('ask' => 'call', 'name' => name.to_s, 'args' => Tutti.encode(args.is_a?(Array) ? args : [args]))
      def warning(*text) = Puppet.warning(*text)
      def debug(*text) = Puppet.debug(*text)
      def known_resource_types = self
      def node = NodeView.new
      def method_missing(name, *args)
        return super unless name.start_with?('function_')
        call_function(name.to_s.delete_prefix('function_'), args.first)
      end
      def respond_to_missing?(name, *) = name.start_with?('function_') || super
    end
  end

  # The interface since Puppet 4: a function is a class with dispatches.
  module Functions
    KNOWN = {}
    Dispatch = Struct.new(:method, :types, :names, :required, :repeated, :block, :block_name, :block_optional, :returns, :given, :refuses) do
      def self.empty(method) = new(method, [], [], 0, false, nil, 'block', false, nil, [], false)
      def signature
        { 'params' => types, 'names' => names.map(&:to_s), 'required' => required, 'repeated' => repeated, 'block' => block,
          'block_name' => block_name.to_s, 'block_optional' => block_optional }
      end
    end

    class InternalFunction; end

    def self.create_function(name, _base = nil, &definition)
      type = Class.new(Function)
      type.function_name = name.to_s
      type.class_eval(&definition)
      KNOWN[name.to_s] = type
    end

    class Function
      class << self
        attr_accessor :function_name
        def dispatches = @dispatches ||= []
        def aliases = @aliases ||= {}
        def dispatch(method, &block)
          @current = Dispatch.empty(method)
          class_eval(&block)
          dispatches << @current
        end
        # Arguments that no dispatch takes: the method says what is wrong with them.
        def argument_mismatch(method, &block)
          dispatch(method, &block)
          @current.refuses = true
        end
        def param(type, name) = (@current.types << type; @current.names << name; @current.required += 1)
        alias required_param param
        def optional_param(type, name) = (@current.types << type; @current.names << name)
        def repeated_param(type, name) = (optional_param(type, name); @current.repeated = true)
        alias optional_repeated_param repeated_param
        def required_repeated_param(type, name) = (repeated_param(type, name); @current.required += 1)
        # (), (type), (name) or (type, name)
        def block_param(*what)
          @current.block = what.grep(String).first || 'Callable'
          @current.block_name = what.grep(Symbol).first || :block
        end
        alias required_block_param block_param
        def optional_block_param(*what) = (block_param(*what); @current.block_optional = true)
        def return_type(type) = @current.returns = type
        def scope_param(*) = @current.given << :scope
        def compiler_param(*) = @current.given << :compiler
        def cache_param(*) = @current.given << :cache
        def local_types(&block) = class_eval(&block)
        def type(text)
          name, definition = text.split('=', 2).map(&:strip)
          aliases[name] = definition
        end

        # A function without dispatches is the method of its name, and takes what that takes.
        def of_method
          method = function_name.split('::').last.to_sym
          made = Dispatch.empty(method)
          instance_method(method).parameters.each do |kind, name|
            next unless %i[req opt rest].include?(kind)
            made.types << 'Any'
            made.names << name
            made.required += 1 if kind == :req
            made.repeated = true if kind == :rest
          end
          made.block = 'Callable'
          made.block_optional = true
          made
        end
      end

      def closure_scope = SCOPE
      def scope = SCOPE
      def call_function(name, *args, &_block) = Tutti.ask('ask' => 'call', 'name' => name.to_s, 'args' => Tutti.encode(args))
      def loader = self
      def load(*) = nil

      def run(args, block)
        all = self.class.dispatches
        all = [self.class.of_method] if all.empty?
        usual, refusals = all.partition { |d| !d.refuses }
        number = Tutti.ask('ask' => 'dispatch', 'name' => self.class.function_name, 'signatures' => (usual + refusals).map(&:signature),
                           'usual' => usual.size, 'aliases' => self.class.aliases, 'args' => Tutti.encode(args))
        chosen = (usual + refusals)[number]
        given = chosen.given.map { |what| what == :scope ? SCOPE : what == :compiler ? SCOPE.compiler : {} }
        result = send(chosen.method, *given, *args, &block)
        raise Tutti::Refused, "'#{self.class.function_name}' #{result}" if chosen.refuses
        chosen.returns ? Tutti::Returned.new(result, chosen.returns, self.class.aliases) : result
      end
    end
  end
  SCOPE = Parser::Scope.new
  Functions::SCOPE = SCOPE
end

# What a template sees as self.
class TemplateBinding
  def initialize(file, variables)
    @__scope__ = Puppet::SCOPE
    @__file__ = file
    variables.each { |name, value| instance_variable_set("@#{name}", value) }
  end

  def scope = @__scope__
  def file = @__file__
  def has_variable?(name) = scope.include?(name.to_s)
  def classes = scope.classes
  def tags = raise(NotImplementedError, "Call 'all_tags' instead.")
  def all_tags = Puppet::Util::TagSet.new(scope.context['catalog_tags'])
  def to_s = "template[#{file || 'inline'}]"
  def inspect = '#<Puppet::Parser::TemplateWrapper>'
  def get_binding = binding
end

module Tutti
  # The arguments fit no dispatch: the message says whose.
  class Refused < Puppet::ParseError; end

  ABSENT = Object.new.freeze
  LOADED = {}
  TEMPLATES = {}

  module_function

  def render(text, file)
    erb, names = TEMPLATES[[text, file]] ||= begin
      made = ERB.new(text, trim_mode: '-')
      made.filename = file
      [made, text.scan(/@([a-z_]\w*)/).flatten.uniq - %w[__scope__ __file__]]
    end
    variables = names.empty? ? {} : ask('ask' => 'vars', 'names' => names)
    shared = variables.select { |_, v| v.is_a?(Array) || v.is_a?(Hash) }
    before = shared.transform_values(&:hash)
    result = erb.result(TemplateBinding.new(file, variables).get_binding)
    # A template may append to an array it was given; in Puppet the catalog then has it, and modules rely on that.
    changed = shared.reject { |name, v| v.hash == before[name] }
    changed.merge!(Puppet::SCOPE.own.select { |_, v| v.is_a?(Array) || v.is_a?(Hash) })
    ask('ask' => 'changed', 'values' => encode(changed)) unless changed.empty?
    result
  end

  def call(request)
    request['libs'].each { |dir| $LOAD_PATH.unshift(dir) unless $LOAD_PATH.include?(dir) }
    LOADED[request['file']] ||= begin
      eval(File.read(request['file'], encoding: 'UTF-8'), TOPLEVEL_BINDING, request['file'])
      true
    end
    args = request['args'].map { |a| decode(a) }
    block = request['block'] ? ->(*given) { ask('ask' => 'yield', 'args' => encode(given)) } : nil
    if request['api'] == '4x'
      type = Puppet::Functions::KNOWN[request['name']] or raise Puppet::Error, "#{request['file']} does not define the function #{request['name']}"
      return type.new.run(args, block)
    end
    known = Puppet::Parser::Functions::KNOWN[request['name'].to_sym] or raise Puppet::Error, "#{request['file']} does not define the function #{request['name']}"
    check_count(known[:arity], args.size)
    result = Puppet::SCOPE.send("function_#{request['name']}__here", args.map { |a| a.nil? ? '' : a })
    known[:rvalue] ? result : nil
  end

  # An arity below zero says that more may follow: -2 is at least one.
  def check_count(arity, count)
    wanted = arity.negative? ? "minimum #{-arity - 1}" : arity.to_s
    enough = arity.negative? ? count >= -arity - 1 : count == arity
    raise Puppet::ParseError, "Wrong number of arguments given (#{count} for #{wanted})" unless enough
  end

  # A native type's file is read with a recorder in place of Puppet's own classes: only names matter to a compiler.
  class TypeRecorder
    attr_reader :parameters, :properties, :name_vars
    attr_accessor :whole # the whole of the type was read
    def initialize
      @parameters, @properties, @isomorphic, @name_vars, @whole = [], [], true, [], false
    end
    def newparam(name, options = {}, &block)
      @parameters << name.to_s
      @name_vars << name.to_s if options[:namevar] || (block && (probe(block) == :namevar))
    end
    def newproperty(name, *, &_block) = @properties << name.to_s
    def ensurable(*) = @properties << 'ensure'
    def probe(block)
      seen = Class.new(BasicObject) { attr_reader :namevar
        def isnamevar(*) = @namevar = true
        def method_missing(*) = self
        def respond_to_missing?(*) = true
        def namevar? = @namevar
      }.new
      begin
        seen.instance_exec(&block)
      rescue ::StandardError, ::NameError
        nil
      end
      seen.namevar? ? :namevar : nil
    end
    def isomorphic? = @isomorphic
    # [[pattern, [attribute, ...]], ...]: a pattern that gives something other than what it matched is none of ours.
    def patterns
      return [] unless singleton_methods(false).include?(:title_patterns)
      title_patterns.map do |regex, names|
        names.each { |n| raise ArgumentError if n.is_a?(Array) && n[1] && n[1].call('a:b') != 'a:b' }
        [regex.to_s, names.map { |n| (n.is_a?(Array) ? n[0] : n).to_s }]
      end
    end
    def method_missing(*) = self
    def respond_to_missing?(*) = true
  end

  def describe(request)
    recorder = TypeRecorder.new
    type = ::Module.new
    type.define_singleton_method(:newtype) do |*_args, **_options, &block|
      recorder.instance_exec(&block)
      recorder.whole = true
      recorder
    rescue ::StandardError, ::NameError
      recorder
    end
    request['libs'].each { |dir| $LOAD_PATH.unshift(dir) unless $LOAD_PATH.include?(dir) }
    Puppet.send(:remove_const, :Type) if Puppet.const_defined?(:Type, false)
    Puppet.const_set(:Type, type)
    eval(File.read(request['file'], encoding: 'UTF-8'), TOPLEVEL_BINDING.dup, request['file'])
    patterns = begin
      recorder.patterns
    rescue ::StandardError, ::NameError
      recorder.whole = false
      []
    end
    { 'attributes' => recorder.parameters + recorder.properties, 'namevars' => recorder.name_vars, 'patterns' => patterns,
      'isomorphic' => recorder.isomorphic? ? true : false, 'whole' => recorder.whole }
  end

  def answer(request)
    result = case request['op']
             when 'template' then render(request['text'] || File.read(request['file'], encoding: 'UTF-8'), request['file'])
             when 'inline' then render(request['text'], nil)
             when 'call' then catch(:no_such_key) { call(request) }
             when 'type' then describe(request)
             end
    say(if result.equal?(ABSENT) then { 'absent' => true }
        elsif result.is_a?(Returned) then { 'result' => encode(result.value), 'returns' => result.type, 'aliases' => result.aliases }
        else { 'result' => encode(result) }
        end)
  rescue Exception => e # rubocop:disable Lint/RescueException: whatever happens, the compiler must hear of it
    at = (e.backtrace_locations || []).find { |l| l.path == request['file'] || l.path == '(erb)' }
    line = at&.lineno || (e.is_a?(SyntaxError) ? e.message[/:(\d+):/, 1].to_i : nil)
    say('error' => text(e.message.to_s), 'refused' => e.is_a?(Refused), 'class' => e.class.to_s, 'file' => line && request['file'], 'line' => line)
  end

  def serve
    while (line = $stdin.gets)
      answer(JSON.parse(line, max_nesting: 0))
      Puppet::SCOPE.own.clear
    end
  end
end

Tutti.serve
