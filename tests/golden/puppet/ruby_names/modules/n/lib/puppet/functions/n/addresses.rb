require 'resolv'

Puppet::Functions.create_function(:'n::addresses') do
  def addresses(name)
    found = Resolv::DNS.new.getresources(name, Resolv::DNS::Resource::IN::A).map { |r| r.address.to_s }
    begin
      Resolv.getaddress(name)
    rescue Resolv::ResolvError => e
      found << e.message
    end
  end
end
