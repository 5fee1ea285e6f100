if true { notice('a') } elseif false { notice('b') }
