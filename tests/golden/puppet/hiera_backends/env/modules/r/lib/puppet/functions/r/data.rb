Puppet::Functions.create_function(:'r::data') do
  dispatch :data do
    param 'Puppet::LookupKey', :key
    param 'Hash[String[1], Any]', :options
    param 'Puppet::LookupContext', :context
  end

  def data(key, options, context)
    context.explain { "Ruby looks for #{key}" }
    context.not_found unless key.start_with?('r::')
    return context.cached_value(key) if context.cache_has_key(key)
    case key
    when 'r::text' then context.cache('r::other', 'cached') && context.interpolate("%{facts.fqdn}#{options['suffix']}")
    when 'r::other' then 'not cached'
    when 'r::where' then [context.module_name, context.environment_name.to_s, context.cached_entries.to_a]
    else context.not_found
    end
  end
end
