# Reads expressions, one JSON string a line; answers each with the value that Puppet makes of it, or its error.
# All are evaluated in the top scope of one compiler, which is quick; none of them may change anything there.
require 'json'
require 'puppet'
require 'timeout'

dir, modulepath = ARGV
Puppet.initialize_settings(['--confdir', "#{dir}/conf", '--vardir', "#{dir}/var"])
Puppet::Util::Log.level = :crit
facts = { 'fqdn' => 'test.example.com', 'hostname' => 'test', 'os' => { 'family' => 'Debian', 'name' => 'Debian' } }
env = Puppet::Node::Environment.create(:production, modulepath.split(':'))
node = Puppet::Node.new('test.example.com', environment: env, facts: Puppet::Node::Facts.new('test.example.com', facts))
node.merge(facts)
Puppet[:code] = ''
Puppet.override(current_environment: env, environments: Puppet::Environments::Static.new(env), rich_data: true) do
  compiler = Puppet::Parser::Compiler.new(node)
  compiler.compile
  Puppet.override(loaders: compiler.loaders, global_scope: compiler.topscope) do
    parser = Puppet::Pops::Parser::EvaluatingParser.new
    STDIN.each_line do |line|
      answer =
        begin
          value = Timeout.timeout(5) { parser.evaluate_string(compiler.topscope, JSON.parse(line), 'expression') }
          value = value.to_a if value.is_a?(Puppet::Pops::Types::Iterable) && !value.is_a?(Puppet::Pops::Types::PAnyType)
          data = Puppet::Pops::Serialization::ToDataConverter.convert(value, rich_data: true, symbol_as_string: true, local_reference: false, type_by_reference: true, message_prefix: 'x')
          { 'is' => JSON.parse(JSON.generate([data]))[0] }
        rescue SystemExit, Interrupt
          raise
        rescue Timeout::Error
          { 'slow' => true }
        rescue Exception => e
          { 'error' => e.message.lines.first.to_s.strip }
        end
      puts JSON.generate(answer)
      STDOUT.flush
    end
  end
end
