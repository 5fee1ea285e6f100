# Runs a command that takes SIGINT as usual: shells make background commands ignore it.
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
