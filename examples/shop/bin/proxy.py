"""In front of the shop: hands each request to the next server, and to another one when that does not answer.
usage: proxy.py PORT FILE    FILE has a line `ADDRESS PORT` for each server and is read again on SIGHUP"""
import http.client, http.server, itertools, signal, sys, threading, time

port, path = int(sys.argv[1]), sys.argv[2]
backends = []
turn = itertools.count()

def load(*_):
    global backends
    backends = [(a, int(p)) for a, p in (line.split() for line in open(path) if line.strip())]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        until = time.time() + 10
        while True:
            servers, first = backends, next(turn)
            for i in range(len(servers)):
                address, p = servers[(first + i) % len(servers)]
                try:
                    c = http.client.HTTPConnection(address, p, timeout=10)
                    c.request("GET", self.path)
                    r = c.getresponse()
                    body = r.read()
                    if r.status == 200:
                        return self.answer(200, body)
                except (OSError, http.client.HTTPException):
                    continue
            if time.time() > until:
                return self.answer(503, b"nobody is there\n")
            time.sleep(0.05)

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

load()
signal.signal(signal.SIGHUP, load)
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
server.request_queue_size = 128
signal.signal(signal.SIGTERM, lambda *a: threading.Thread(target=server.shutdown).start())
server.serve_forever()
