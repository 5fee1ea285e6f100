"""The shop's database: keys and values over HTTP, kept in one file. usage: db.py PORT FILE"""
import http.server, json, os, signal, sys, threading

port, path = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
data = json.load(open(path)) if os.path.exists(path) else {"visits": 0}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with lock:
            data["visits"] += 1
            with open(path + ".new", "w") as f:
                json.dump(data, f)
            os.replace(path + ".new", path)
            body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
signal.signal(signal.SIGTERM, lambda *a: threading.Thread(target=server.shutdown).start())
server.serve_forever()
