# Reads manifests, one JSON string a line; answers each with the catalog that Puppet makes of it, or its error.
require 'json'
require 'puppet'

dir, modulepath, facts_file = ARGV
Puppet.initialize_settings(['--confdir', "#{dir}/conf", '--vardir', "#{dir}/var"])
Puppet::Util::Log.level = :crit
facts = JSON.parse(File.read(facts_file))
STDIN.each_line do |line|
  env = Puppet::Node::Environment.create(:production, modulepath.split(':'))
  Puppet[:code] = JSON.parse(line)
  answer =
    begin
      Puppet.override(current_environment: env, environments: Puppet::Environments::Static.new(env), rich_data: true) do
        node = Puppet::Node.new('test.example.com', environment: env, facts: Puppet::Node::Facts.new('test.example.com', facts.dup))
        node.merge(facts)
        catalog = Puppet::Parser::Compiler.compile(node).filter(&:virtual?)
        { 'resources' => JSON.parse(JSON.generate(catalog.to_data_hash))['resources'].map { |r| [r['type'], r['title'], r['tags'].sort, r['parameters'] || {}] },
          'edges' => catalog.to_data_hash['edges'].map { |e| [e['source'], e['target']] } }
      end
    rescue SystemExit, Interrupt
      raise
    rescue Exception => e
      { 'error' => e.message.lines.first.to_s.strip }
    end
  puts JSON.generate(answer)
  STDOUT.flush
end
