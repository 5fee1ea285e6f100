import signal, socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen()
print(s.getsockname()[1], flush=True)
if sys.argv[2] != "0":
    signal.pause()
