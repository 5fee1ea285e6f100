# How functions are written in Ruby: the interface of Puppet 4 and the one before it.
module Puppet
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
    class PuppetFunction; end

    def self.create_loaded_function(name, _loader, base = nil, &definition) = create_function(name, base, &definition)
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

        # Those that refuse what they take come last.
        def ordered
          @ordered ||= (dispatches.empty? ? [of_method] : dispatches.partition { |d| !d.refuses }.flatten(1))
        end

        def description
          { 'signatures' => ordered.map(&:signature), 'usual' => ordered.count { |d| !d.refuses }, 'aliases' => aliases,
            'returns' => ordered.map(&:returns) }
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

      # Functions belong to nobody: what they declare or set by themselves does to the top scope, whoever calls them. Only
      # those that ask for it (scope_param) are given the scope of their caller.
      def closure_scope = TOP_SCOPE
      def call_function(name, *args, &block) = Tutti.call_function(TOP_SCOPE, name, args, &block)
      def loader = Pops::Loader.new

      # Which dispatch takes the arguments, the compiler has found out.
      def run(number, args, block)
        chosen = self.class.ordered[number]
        given = chosen.given.map { |what| what == :scope ? SCOPE : what == :compiler ? SCOPE.compiler : {} }
        result = send(chosen.method, *given, *args, &block)
        raise Tutti::Refused, "'#{self.class.function_name}' #{result}" if chosen.refuses
        result
      end
    end
  end
  SCOPE = Parser::Scope.new
  TOP_SCOPE = Parser::Scope.new(top: true)
end
