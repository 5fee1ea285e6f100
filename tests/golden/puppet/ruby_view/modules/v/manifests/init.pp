class v { notify { "in v": } }
