# The part of Puppet's own library that templates and functions of modules use: errors, settings, files, small helpers.
# It is made anew here, so that no Puppet needs to be installed and nothing is loaded that is not used.

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
    # What backends put into their caches, by numbers that the compiler never gives twice.
    CACHES = Hash.new { |all, number| all[number] = {} }
    MOST_CACHES = 10_000
    attr_reader :number, :environment_name, :module_name
    def initialize(number, memory, environment, mod)
      @number, @environment_name, @module_name = number, environment, mod
      CACHES.clear if CACHES.size > MOST_CACHES
      @cache = CACHES[memory]
    end
    def interpolate(value) = interpolated?(value) ? method_of(:interpolate, value) : value
    def cache(key, value) = @cache[key] = value
    def cache_all(values) = (@cache.merge!(values); nil)
    def cache_has_key(key) = @cache.key?(key)
    def cached_value(key) = @cache[key]
    def not_found = throw(:no_such_key, Tutti::ABSENT)
    def explain = method_of(:explain, yield.to_s)
    def cached_entries(&block)
      return @cache.each unless block
      @cache.each { |k, v| block.arity == 2 ? yield(k, v) : yield([k, v]) }
      nil
    end
    private def interpolated?(value)
      case value
      when String then value.include?('%{')
      when Array then value.any? { |v| interpolated?(v) }
      when Hash then value.any? { |k, v| interpolated?(k) || interpolated?(v) }
      end
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
  PUPPETVERSION = version

  # Settings: what belongs to the node or the environment is asked for, the rest is as a new installation has it.
  class Settings
    DEFAULTS = { confdir: '/etc/puppet', vardir: '/var/cache/puppet', codedir: '/etc/puppet/code', ssldir: '/var/lib/puppet/ssl',
                 logdir: '/var/log/puppet', rundir: '/run/puppet', statedir: '/var/cache/puppet/state', libdir: '/var/cache/puppet/lib',
                 environmentpath: '/etc/puppet/code/environments', hiera_config: '/etc/puppet/hiera.yaml', server: 'puppet', ca_server: 'puppet',
                 serverport: 8140, masterport: 8140, runinterval: 1800, storeconfigs: false, rich_data: true, user: 'puppet', group: 'puppet',
                 node_name_value: nil, digest_algorithm: 'sha256', tasks: false, noop: false, strict_variables: false }.freeze
    ASKED = { certname: 'node', node_name_value: 'node', environment: 'environment', modulepath: 'modulepath', strict: 'strict' }.freeze
    def [](name)
      key = name.to_sym
      key = :vardir if key == :server_datadir
      return DEFAULTS[key] unless ASKED.key?(key)
      value = Puppet::SCOPE.context[ASKED[key]]
      key == :strict ? value.to_sym : key == :modulepath ? value.join(':') : value
    end
    def value(name, *) = self[name]
    def setting(name) = Struct.new(:value).new(self[name])
    def include?(name) = DEFAULTS.key?(name.to_sym) || ASKED.key?(name.to_sym)
    def use(*) = nil
  end
  def self.settings = @settings ||= Settings.new
  def self.[](name) = settings[name]
  def self.lookup(name)
    case name
    when :current_environment, :root_environment then SCOPE.environment
    when :environments then Environments.new
    when :loaders then Pops::Loaders.new
    when :global_scope then TOP_SCOPE
    when :trusted_information then nil
    else block_given? ? yield : raise(Error, "no '#{name}' in the current context")
    end
  end
  def self.override(*) = yield
  class Environments
    def get(name) = name.to_s == SCOPE.environment.to_s ? SCOPE.environment : nil
    alias get! get
    def list = [SCOPE.environment]
  end
  def self.features = Features.new
  def self.warn_once(_kind, _key, message, *_) = warning(message)
  def self.deprecation_warning(message, *_) = warning(message)
  # Nobody is shown these, and code in Ruby says many thousands of them.
  %i[debug info].each { |level| define_singleton_method(level) { |*_text| nil } }
  %i[notice warning err alert emerg crit].each do |level|
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
    def self.symbolizehash(hash) = hash.transform_keys(&:to_sym)
    def self.posix? = true
    module Package
      module_function
      def versioncmp(one, other, *_) = Tutti.ask('ask' => 'call', 'name' => 'versioncmp', 'args' => [one, other])
    end
    module Execution
      # What a program prints, as text that knows how it ended.
      class ProcessOutput < String
        attr_reader :exitstatus
        def initialize(text, exitstatus)
          super(text)
          @exitstatus = exitstatus
        end
      end
      def self.execute(command, options = {}, *_)
        joined = options[:combine] == false ? {} : { err: %i[child out] }
        out = command.is_a?(Array) ? IO.popen([*command.map(&:to_s), joined], &:read) : IO.popen(command, **joined, &:read)
        failed = options.fetch(:failonfail, options.empty?) && !$?.success?
        raise ExecutionFailure, "Execution of '#{[command].flatten.join(' ')}' returned #{$?.exitstatus}: #{out}" if failed
        ProcessOutput.new(out, $?.exitstatus)
      end
      def self.execpipe(command, *_)
        out = execute(command)
        block_given? ? yield(out) : out
      end
    end
    module Json
      def self.load(text, *_) = JSON.parse(text)
      def self.load_file(file, *_) = load(File.read(file, encoding: 'UTF-8'))
      def self.dump(value, *_) = JSON.generate(value)
    end
    module Yaml
      YamlLoadError = Class.new(Puppet::Error)
      def self.safe_load(text, allowed = [], *_)
        YAML.safe_load(text, permitted_classes: allowed, aliases: true)
      rescue Psych::Exception => e
        raise YamlLoadError, e.message
      end
      def self.safe_load_file(file, *more) = safe_load(File.read(file, encoding: 'UTF-8'), *more)
      def self.safe_load_file_if_valid(file, *more) = (safe_load_file(file, *more) if File.file?(file))
      def self.load_file(file, *_) = safe_load_file(file)
      def self.dump(value, *_) = value.to_yaml
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
          def self.from_binary_string(bytes) = new([bytes].pack('m0'))
          def self.from_string(text) = from_binary_string(text)
          def self.from_base64(text) = new(text)
          def self.from_base64_strict(text) = new(text)
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
        def interpret(text, *_) = parse(text)
      end
      # The word for a type mismatch, as the compiler says it.
      class TypeMismatchDescriber
        def self.singleton = new
        def self.describe_mismatch(name, expected, actual) = "#{name} expects a value of type #{expected}, got #{actual}"
        def describe_mismatch(name, expected, actual, *_) = self.class.describe_mismatch(name, expected, actual)
      end
    end
    # What can be loaded by its name: functions, types, resource types.
    class Loader
      def load(kind, name) = Tutti.known?(kind.to_s, name) ? Loaded.new(name.to_s) : nil
      Loaded = Struct.new(:name) do
        def call(_scope, *args, &block) = Tutti.call_function(Puppet::TOP_SCOPE, name, args, &block)
      end
    end
    class Loaders
      def self.find_loader(*) = Loader.new
      def find_loader(*) = Loader.new
      %i[private_environment_loader public_environment_loader puppet_system_loader static_loader environment_loader private_loader_for_module
         public_loader_for_module].each { |name| define_method(name) { |*| Loader.new } }
    end
    module Evaluator
      module Runtime3ResourceSupport
        def self.find_resource_type(_scope, name) = SCOPE.known_resource_types.resource_type(name)
        def self.find_resource_type_or_class(scope, name) = find_resource_type(scope, name) || SCOPE.known_resource_types.hostclass(name)
      end
    end
    module Lookup
      module HieraConfig
        def self.symkeys_to_string(value)
          case value
          when Hash then value.to_h { |k, v| [k.is_a?(Symbol) ? k.to_s : k, symkeys_to_string(v)] }
          when Array then value.map { |v| symkeys_to_string(v) }
          else value
          end
        end
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

  # A module of the environment.
  class Module
    attr_reader :name, :path
    def initialize(name, path)
      @name, @path = name, path
    end
    def self.find(name, *_)
      path = Tutti.ask('ask' => 'module', 'name' => name.to_s)
      path && new(name.to_s, path)
    end
    def to_s = "Module #{name}(#{path})"
    def metadata = @metadata ||= File.file?("#{path}/metadata.json") ? JSON.parse(File.read("#{path}/metadata.json", encoding: 'UTF-8')) : {}
    def version = metadata['version']
    def author = metadata['author']
    def forge_name = metadata['name']
    def environment = SCOPE.environment
    def manifest_dir = "#{path}/manifests"
    { file: 'files', template: 'templates', plugin: 'lib' }.each do |kind, folder|
      define_method(kind) { |name = nil| (found = [path, folder, name].compact.join('/')) && File.exist?(found) ? found : nil }
      define_method("#{kind}s") { "#{path}/#{folder}" }
    end
  end

  class Node
    class Environment
      attr_reader :name
      def initialize(name) = @name = name
      def to_s = name.to_s
      def to_sym = name.to_sym
      def ==(other) = other.is_a?(Environment) && other.name == name
      def module(name) = Puppet::Module.find(name)
      def modules = Tutti.ask('ask' => 'modules').map { |name, path| Puppet::Module.new(name, path) }
      def modules_by_path = modulepath.to_h { |dir| [dir, modules.select { |m| File.dirname(m.path) == dir }] }
      def modulepath = SCOPE.context['modulepath']
      alias full_modulepath modulepath
      def manifest = SCOPE.context['manifest']
      def known_resource_types = Puppet::Resource::TypeCollection.new(self)
      def loaders = Puppet::Pops::Loaders.new
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
    def ref = to_s
    def ==(other) = other.is_a?(Resource) && other.to_s == to_s
    alias eql? ==
    def hash = to_s.hash
    def resource_type = SCOPE.known_resource_types.resource_type(@type)
    # The classes, defines and types that the environment has, looked for by name.
    class TypeCollection
      Found = Struct.new(:name, :type) do
        def to_s = name
        def title_patterns = []
      end
      attr_reader :environment
      def initialize(environment) = @environment = environment
      { hostclass: 'class', definition: 'define', resource_type: 'type' }.each do |name, kind|
        define_method(name) { |wanted| Tutti.known?(kind, wanted.to_s.downcase) ? Found.new(wanted.to_s.downcase, name) : nil }
      end
      def find_hostclass(name, *) = hostclass(name)
      def find_definition(name, *) = definition(name)
    end
  end

  module FileSystem
    module_function

    def exist?(path) = File.exist?(path)
    def file?(path) = File.file?(path)
    def directory?(path) = File.directory?(path)
    def read(path, options = {}) = File.read(path, encoding: options[:encoding] || 'UTF-8')
    alias read_preserve_line_endings read
    module_function :read_preserve_line_endings
    def binread(path) = File.binread(path)
    def pathname(path) = Pathname.new(path)
    def path_string(path) = path.to_s
    def basename_string(path) = File.basename(path)
    def dir_string(path) = File.dirname(path)
    def each_line(path, &block) = File.foreach(path, encoding: 'UTF-8', &block)
  end
end

# Facts, as far as the compiler has those of the node.
module Facter
  module_function

  def value(name) = Tutti.ask('ask' => 'fact', 'name' => name.to_s)
  alias [] value
  module_function :[]
  Fact = Struct.new(:name, :value)
  def fact(name) = Fact.new(name.to_s, value(name))
  def to_hash = Tutti.ask('ask' => 'var', 'name' => 'facts') || {}
  def add(*) = nil
  def version = '4.3.0'
  %i[debug warn loadfacts search clear].each { |name| define_method(name) { |*| nil } && module_function(name) }
end

module Tutti
  module_function

  def known?(kind, name) = ask('ask' => 'known', 'kind' => kind, 'name' => name.to_s.delete_prefix('::'))
end
