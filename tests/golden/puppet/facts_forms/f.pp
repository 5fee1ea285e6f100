notice($facts["fqdn"], $facts["os"]["family"])
