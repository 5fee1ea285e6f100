# What Ruby code sees of the catalog in the making: the scope it was called in, the compiler, the catalog, its resources.
module Puppet
  module Parser
    module Files
      module_function

      def find_template(name, _environment = nil) = Tutti.ask('ask' => 'file', 'folder' => 'templates', 'name' => name)
      def find_file(name, _environment = nil) = Tutti.ask('ask' => 'file', 'folder' => 'files', 'name' => name)
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
        KNOWN.key?(name.to_sym) || Tutti.known?('function', name) ? "function_#{name}" : false
      end
      def self.rvalue?(name, *_) = KNOWN.fetch(name.to_sym, {})[:rvalue]
      def self.autoloader = Autoloader
      module Autoloader
        def self.load(*) = true
        def self.loaded?(*) = true
        def self.loadall(*) = true
      end
    end

    # The node a catalog is compiled for.
    class NodeView
      Facts = Struct.new(:name, :values)
      def name = about['node']
      def to_s = name
      def environment = Puppet::SCOPE.environment
      def environment_name = environment.name
      def facts = Facts.new(name, parameter('facts') || {})
      def parameters = (parameter('facts') || {}).merge(about['node_parameters'])
      def trusted_data = parameter('trusted') || {}
      def server_facts = parameter('server_facts') || {}
      def classes = about['node_classes'].empty? ? [] : about['node_classes']
      private def about = Puppet::SCOPE.context
      private def parameter(name) = Tutti.ask('ask' => 'var', 'name' => name)
    end

    # A resource of the catalog, with the parameters it has now.
    class ResourceView < Puppet::Resource
      def initialize(ref, parameters)
        super(ref)
        @parameters = parameters || {}
      end

      def [](name) = @parameters[name.to_s]
      def parameter(name) = @parameters[name.to_s]
      alias get parameter
      def parameters = to_hash
      def to_hash = @parameters.transform_keys(&:to_sym)
      def to_h = to_hash
      def each(&block) = to_hash.each(&block)
      def name = @parameters['name'] || title
      def to_s = super == 'Class[Main]' ? 'Class[main]' : super
    end

    # The catalog, for who looks something up in it.
    class CatalogView
      def resource(type, title = nil) = Puppet::SCOPE.findresource(type, title)
      def resources = Puppet::SCOPE.resources
      def resource_refs = resources.map(&:to_s)
      def classes = Puppet::SCOPE.classes
      def tags = Puppet::SCOPE.context['catalog_tags']
      def environment_instance = Puppet::SCOPE.environment
      def environment = environment_instance.to_s
      def name = Puppet::SCOPE.node.name
      def version = 0
      def to_s = name
    end

    class Compiler
      def environment = Puppet::SCOPE.environment
      def catalog = CatalogView.new
      def node = NodeView.new
      def topscope = Puppet::TOP_SCOPE
      def loaders = Puppet::Pops::Loaders.new
      def findresource(*name) = Puppet::SCOPE.findresource(*name)
      def resources = catalog.resources
      def known_resource_types = environment.known_resource_types
      def evaluate_classes(classes, scope, *) = scope.call_function('include', [classes.is_a?(Hash) ? classes.keys : classes])
    end

    # A scope: that of the caller, or the top one.
    class Scope
      Source = Struct.new(:name, :type, :module_name)

      def initialize(top: false) = @top = top
      def ask(question) = Tutti.ask(@top ? question.merge('top' => true) : question)

      # What Ruby code sets stays on this side too, until the outermost request is answered: it may change yet.
      def own = @own ||= {}
      def setvar(name, value, *_)
        ask('ask' => 'set', 'name' => name.to_s, 'value' => Tutti.encode(value))
        own[name.to_s] = value
      end
      alias []= setvar
      def lookupvar(name, *_)
        own.fetch(name.to_s) { ask('ask' => 'var', 'name' => name.to_s.delete_prefix('::')) }
      end
      alias [] lookupvar
      def include?(name) = !lookupvar(name).nil?
      alias exist? include?
      alias bound? include?
      def to_hash(*) = ask('ask' => 'all')
      def facts = lookupvar('facts')
      def lookupdefaults(type) = ask('ask' => 'defaults', 'type' => type.to_s).transform_keys(&:to_sym)
      def findresource(type, title = nil)
        ref = title.nil? ? type.to_s : "#{type}[#{title}]"
        found = ask('ask' => 'resource', 'ref' => ref)
        found && ResourceView.new(ref, found)
      end
      def resources = ask('ask' => 'resources').map { |ref| ResourceView.new(ref, nil) }
      def context = ask('ask' => 'context')
      def tags = context['tags']
      def tagged?(*names) = !(names.flatten.map(&:to_s) & tags).empty?
      def catalog = CatalogView.new
      def classes = context['classes']
      def compiler = Compiler.new
      def environment = Node::Environment.new(context['environment'].to_sym)
      def resource
        ref = context['resource']
        ref && (findresource(ref) || ResourceView.new(ref, nil))
      end
      def source = Source.new(context['class'], :hostclass, context['module'])
      def class_scope(_class = nil) = self
      def parent = Puppet::TOP_SCOPE
      def topscope = Puppet::TOP_SCOPE
      def top? = @top
      def parent_module_name = nil
      def call_function(name, args, &block) = Tutti.call_function(self, name, [*args], &block)
      %i[debug info notice warning err].each { |level| define_method(level) { |*text| Puppet.send(level, *text) } }
      def known_resource_types = environment.known_resource_types
      def find_hostclass(name, *) = known_resource_types.hostclass(name)
      def find_definition(name, *) = known_resource_types.definition(name)
      def find_defined_resource_type(name) = known_resource_types.definition(name)
      def find_resource_type(name) = Puppet::Pops::Evaluator::Runtime3ResourceSupport.find_resource_type(self, name)
      def resolve_type_and_titles(type, titles) = [type, titles]
      def node = NodeView.new
      def to_s = 'Scope()'
      def inspect = to_s
      def method_missing(name, *args, &block)
        return super unless name.start_with?('function_')
        raise ArgumentError, 'custom functions must be called with a single array that contains the arguments' unless args.size == 1 && args[0].is_a?(Array)
        call_function(name.to_s.delete_prefix('function_'), args[0], &block)
      end
      def respond_to_missing?(name, *) = name.start_with?('function_') || super
    end
  end
end
