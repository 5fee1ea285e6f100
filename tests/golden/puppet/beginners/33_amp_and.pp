if true && false { notice('a') }
