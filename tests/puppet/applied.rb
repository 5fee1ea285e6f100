# Reads cases, one JSON object a line ({"steps": SHELL, ...} as `applied` writes them); answers each with what Puppet said when it
# applied the manifest twice, and with what was there after each time. Puppet is loaded once; every case has a mount namespace of its own.
require 'json'
require 'puppet'
require 'puppet/util/command_line'
require 'puppet/application/apply'
require 'puppet/indirector/facts/facter'

FACTS = { 'fqdn' => 'test.example.com', 'hostname' => 'test', 'networking' => { 'fqdn' => 'test.example.com' },
          'os' => { 'family' => 'Debian', 'name' => 'Debian', 'release' => { 'full' => '12.11', 'major' => '12' } },
          'osfamily' => 'Debian', 'operatingsystem' => 'Debian', 'kernel' => 'Linux' }.freeze
Puppet::Node::Facts::Facter.class_eval do
  def find(request)
    Puppet::Node::Facts.new(request.key, FACTS.dup)
  end
end
NEW_MOUNTS = 0x20000
UNSHARE = 272

def apply(words, file)
  pid = fork do
    STDOUT.reopen(file, 'w')
    STDERR.reopen(STDOUT)
    STDOUT.sync = STDERR.sync = true
    File.umask(0o022)
    Puppet::Util::CommandLine.new('puppet', words).execute
  end
  Process.wait(pid)
  $?.exitstatus || -$?.termsig
end

STDIN.each_line do |line|
  c = JSON.parse(line)
  pid = fork do
    raise 'no mount namespace' unless syscall(UNSHARE, NEW_MOUNTS).zero?
    raise 'setting up failed' unless system('sh', '-c', c['setup'])
    answer = { 'codes' => [], 'said' => [], 'trees' => [] }
    2.times do
      answer['codes'] << apply(c['puppet'], c['said'])
      answer['said'] << File.read(c['said'], encoding: 'UTF-8')
      answer['trees'] << IO.popen(['sh', '-c', c['look']], err: %i[child out], &:read).force_encoding('UTF-8')
    end
    system('sh', '-c', c['end'])
    puts JSON.generate(answer)
    STDOUT.flush
    exit!(0)
  end
  Process.wait(pid)
  (puts '{}') && STDOUT.flush unless $?.success?
end
