notify { "top": }
class mod1 {}
