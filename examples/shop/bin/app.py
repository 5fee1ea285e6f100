"""One of the shop's servers. usage: app.py PORT VERSION DATABASE_PORT"""
import http.server, json, signal, sys, threading, urllib.request

port, version, database = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        visits = json.load(urllib.request.urlopen(f"http://127.0.0.1:{database}/", timeout=10))["visits"]
        body = f"shop {version} at {port}, visit {visits}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = False      # what is being answered is answered before we go
    request_queue_size = 128

server = Server(("127.0.0.1", port), Handler)
signal.signal(signal.SIGTERM, lambda *a: threading.Thread(target=server.shutdown).start())
server.serve_forever()
server.server_close()
