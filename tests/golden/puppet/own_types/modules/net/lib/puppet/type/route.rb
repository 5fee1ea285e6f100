require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'route',
  desc: 'A type that is one hash.',
  title_patterns: [
    { pattern: %r{\A(?<target>\S+) via (?<gateway>\S+)\z}, desc: 'both in the title' },
    { pattern: %r{\A(?<target>.*)\z}, desc: 'where to' },
  ],
  attributes: {
    ensure: { type: 'Enum[present, absent]', default: 'present' },
    target: { type: 'String', behaviour: :namevar },
    gateway: { type: 'String', behaviour: :namevar },
    metric: { type: 'Optional[Integer]' },
  },
)
