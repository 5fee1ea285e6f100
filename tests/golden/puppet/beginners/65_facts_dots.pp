notice(facts.os.family)
