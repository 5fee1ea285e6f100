notify { "deep": }
