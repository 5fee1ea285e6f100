# What the file of a resource type says to a compiler: the names of its attributes, which of them name the resource, and how
# they are read from its title. Puppet's classes for types are made anew here, as far as such files reach them: what only
# matters where resources are applied (validation, munging, providers) is taken and forgotten.
module Puppet
  # Takes any call, and answers itself: stands for whatever a type's file uses and a compiler does not.
  module TakesAll
    def method_missing(*) = self
    def respond_to_missing?(name, *) = !%i[to_str to_ary to_hash to_proc to_int].include?(name)
  end

  # Names of Puppet's own library that are not made here: while a type's file is read they are empty classes and modules.
  module MakesUp
    def const_missing(name)
      return super unless Tutti.describing
      made = self == Puppet::Type || self == Puppet::Provider ? Class.new(self) : is_a?(Class) ? Class.new(Puppet::Property) : ::Module.new
      made.extend(MakesUp)
      const_set(name, made)
    end
  end
  [Puppet, Util, Pops, Pops::Types, Parser].each { |space| space.extend(MakesUp) }

  # Attributes are classes, as in Puppet, so that those of a module can be made from one another.
  class Parameter
    extend TakesAll
    include TakesAll
    class << self
      attr_accessor :name, :naming
      def isnamevar = @naming = true
      def isnamevar? = @naming || false
      def required? = false
      %i[desc doc munge unmunge validate newvalue newvalues aliasvalue defaultto isrequired array_matching unsafe_munge
         unsafe_validate proxy nodefault sensitive].each { |name| define_method(name) { |*_args, **_options, &_block| nil } }
    end
  end
  class Property < Parameter
    class << self
      def unique = nil
    end
  end
  class Property
    %w[Boolean List KeyValue OrderedList Ensure].each { |name| const_set(name, Class.new(Property)) }
  end
  class Parameter
    %w[Boolean Path PackageOptions].each { |name| const_set(name, Class.new(Parameter)) }
  end

  # Types are classes made from this one.
  class Type
    KNOWN = {}
    extend MakesUp
    extend TakesAll
    include TakesAll
    class << self
      attr_accessor :name

      def newtype(name, *_options, **_more, &block)
        made = Class.new(self)
        made.name = name.to_sym
        KNOWN[name.to_s.downcase.to_sym] = made
        made.class_eval(&block) if block
        made.define_constants if made.respond_to?(:define_constants) && made.method(:define_constants).owner != TakesAll
        made
      end

      def type(name) = KNOWN[name.to_s.downcase.to_sym] || Tutti.foreign_type(name)

      def parameters = @parameters ||= []
      def properties = @properties ||= []
      def newparam(name, options = {}, &block)
        attribute(parameters, name, options[:parent] || Parameter, options[:namevar], block)
      end

      def newproperty(name, options = {}, &block)
        attribute(properties, name, options[:parent] || Property, false, block)
      end

      def ensurable(*, &block) = newproperty(:ensure, parent: Property::Ensure, &block)
      def attribute(list, name, parent, naming, block)
        made = Class.new(parent)
        made.name = name.to_sym
        made.class_eval(&block) if block
        made.naming = true if naming
        list.reject! { |a| a.name == made.name }
        list << made
        made
      end

      def key_attributes = parameters.select { |p| p.isnamevar? || p.name == :name }.map(&:name)
      def isomorphic? = @isomorphic.nil? || @isomorphic
      def title_patterns
        key_attributes.size == 1 ? [[/(.*)/m, [[key_attributes.first]]]] : []
      end

      def allattrs = key_attributes | (parameters + properties).map(&:name)
      def validattr?(name) = allattrs.include?(name.to_sym)
      def attrclass(name) = (parameters + properties).find { |a| a.name == name.to_sym }
      alias paramclass attrclass
      def instances(*) = []
      def provide(*, **) = nil
      def providers = []
      def autorequire(*) = nil
      alias autobefore autorequire
      alias autonotify autorequire
      alias autosubscribe autorequire
      def validate(*) = nil
      def feature(*, **) = nil
      def desc(*) = nil
    end
  end

  class Provider
    extend MakesUp
    extend TakesAll
    include TakesAll
  end

  # Types that are one hash.
  module ResourceApi
    BEHAVIOURS = %i[parameter namevar read_only].freeze
    module_function

    def register_type(definition)
      Type.newtype(definition[:name]) do
        definition[:attributes].each do |name, options|
          if BEHAVIOURS.include?(options[:behaviour]) || BEHAVIOURS.include?(options[:behavior])
            naming = (options[:behaviour] || options[:behavior]) == :namevar
            newparam(name, namevar: naming)
          else newproperty(name)
          end
        end
        naming = parameters.select(&:isnamevar?).map(&:name)
        define_singleton_method(:key_attributes) { naming }
        patterns = definition[:title_patterns]&.map { |p| [p[:pattern], Regexp.new(p[:pattern]).names.map { |n| [n.to_sym] }] }
        define_singleton_method(:title_patterns) { patterns || [[/(.*)/m, [[naming.first]]]] }
      end
    end

    def register_transport(*) = nil
  end
end

module Tutti
  class << self
    attr_accessor :describing
  end

  module_function

  # A type of another file: its class is made from that file when somebody asks, as Puppet does.
  def foreign_type(name)
    key = name.to_s.downcase.to_sym
    path = $LOAD_PATH.map { |dir| File.join(dir, "puppet/type/#{key}.rb") }.find { |file| File.file?(file) }
    path && load_file(path)
    Puppet::Type::KNOWN[key] ||= Class.new(Puppet::Type).tap { |made| made.name = key }
  end

  # Whether a part of a title is taken as it stands: what a pattern makes of it otherwise, only Ruby can tell.
  def as_it_stands?(made)
    ['a', 'A b/', 'c:d', '/e/f'].all? { |text| made.call(text) == text }
  end

  def describe(request)
    use_libraries(request['libs'])
    name = request['name'].to_sym
    Puppet::Type::KNOWN.delete(name)
    whole = true
    begin
      self.describing = true
      load_file(request['file'])
    rescue ::StandardError, ::ScriptError
      whole = false
    ensure
      self.describing = false
    end
    type = Puppet::Type::KNOWN[name] or return { 'whole' => false }
    patterns = type.title_patterns.map do |regex, names|
      names.each { |n| whole = false if n.is_a?(Array) && n[1] && !as_it_stands?(n[1]) }
      [regex.is_a?(Regexp) ? regex.to_s : Regexp.new(regex).to_s, names.map { |n| (n.is_a?(Array) ? n[0] : n).to_s }]
    end
    patterns = [] if patterns.size == 1 && patterns[0][0] == /(.*)/m.to_s
    { 'attributes' => type.allattrs.map(&:to_s), 'namevars' => type.key_attributes.map(&:to_s), 'patterns' => patterns,
      'isomorphic' => type.isomorphic? ? true : false, 'whole' => whole }
  end
end
