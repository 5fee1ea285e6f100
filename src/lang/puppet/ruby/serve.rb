# Answering what the compiler asks for: templates, calls, types. The last part of the script.

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

  # Blocks given to a function that Ruby code calls: the compiler names them by their number here.
  BLOCKS = []

  def with_block(block)
    return yield(nil) unless block
    BLOCKS << block
    count = block.lambda? || block.arity >= 0 ? block.arity : -1
    yield('number' => BLOCKS.size - 1, 'params' => count.abs, 'rest' => count.negative?)
  ensure
    BLOCKS.pop if block
  end

  # Any function, as Ruby code calls it. What is set of the manifest in it belongs to the scope.
  def call_function(scope, name, args, &block)
    with_block(block) do |given|
      question = { 'ask' => 'call', 'name' => name.to_s, 'args' => encode(args) }
      question['block'] = given if given
      scope.ask(question)
    end
  end

  def function_class(request)
    Puppet::Functions::KNOWN[request['name']] or
      raise Puppet::Error, "#{request['file']} does not define the function #{request['name']}"
  end

  # What the file of a function says of it: plain data, not values of the language.
  def load_function(request)
    use_libraries(request['libs'])
    load_file(request['file'])
    function_class(request).description
  end

  def call(request)
    use_libraries(request['libs'])
    load_file(request['file']) if request['file']
    args = request['args'].map { |a| decode(a) }
    block = request['block'] ? ->(*given) { ask('ask' => 'yield', 'args' => encode(given)) } : nil
    return function_class(request).new.run(request['dispatch'], args, block) if request['dispatch']
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

  def answer(request)
    result = case request['op']
             when 'template' then render(request['text'] || File.read(request['file'], encoding: 'UTF-8'), request['file'])
             when 'inline' then render(request['text'], nil)
             when 'call' then catch(:no_such_key) { call(request) }
             when 'load' then load_function(request)
             when 'block' then BLOCKS[request['number']].call(*request['args'].map { |a| decode(a) })
             when 'known' then Puppet::Parser::Functions::KNOWN.key?(request['name'].to_sym)
             when 'type' then describe(request)
             end
    say(if result.equal?(ABSENT) then { 'absent' => true }
        else { 'result' => encode(result) }
        end)
  rescue Exception => e # rubocop:disable Lint/RescueException: whatever happens, the compiler must hear of it
    at = (e.backtrace_locations || []).find { |l| l.path == request['file'] || l.path == '(erb)' }
    line = at&.lineno || (e.is_a?(SyntaxError) ? e.message[/:(\d+):/, 1].to_i : nil)
    say('error' => text(e.message.to_s), 'refused' => e.is_a?(Refused), 'class' => e.class.to_s, 'file' => line && request['file'], 'line' => line)
  end

  def serve
    loop do
      answer(hear)
      Puppet::SCOPE.own.clear
      Puppet::TOP_SCOPE.own.clear
    end
  end
end

Tutti.serve
