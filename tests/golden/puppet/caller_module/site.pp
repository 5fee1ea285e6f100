include m::config, m::alone
