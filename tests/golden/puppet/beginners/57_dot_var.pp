notice("${facts.os.family}")
