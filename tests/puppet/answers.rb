# Reads expressions, one JSON string a line; answers each with the value that Puppet makes of it, or its error.
require 'json'
require 'puppet'

dir, modulepath = ARGV
Puppet.initialize_settings(['--confdir', "#{dir}/conf", '--vardir', "#{dir}/var", '--log_level', 'crit'])
Puppet::Util::Log.level = :crit
facts = { 'fqdn' => 'test.example.com', 'hostname' => 'test', 'os' => { 'family' => 'Debian', 'name' => 'Debian' } }

STDIN.each_line do |line|
  expression = JSON.parse(line)
  env = Puppet::Node::Environment.create(:production, modulepath.split(':'))
  Puppet[:code] = "$answer_ = #{expression}\nnotify { 'x': message => { 'is' => $answer_ } }\n"
  answer =
    begin
      Puppet.override(current_environment: env, environments: Puppet::Environments::Static.new(env)) do
        node = Puppet::Node.new('test.example.com', environment: env, facts: Puppet::Node::Facts.new('test.example.com', facts.dup))
        node.merge(facts)
        catalog = Puppet::Parser::Compiler.compile(node)
        data = JSON.parse(JSON.generate(Puppet.override(rich_data: true) { catalog.to_data_hash }))
        { 'is' => data['resources'].find { |r| r['type'] == 'Notify' }['parameters']['message']['is'] }
      end
    rescue Exception => e
      raise if e.is_a?(Interrupt)
      { 'error' => e.message.lines.first.to_s.strip }
    end
  puts JSON.generate(answer)
  STDOUT.flush
end
