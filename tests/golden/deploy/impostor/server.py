# Answers every request; prints its port. usage: server.py PORT SECONDS-BEFORE-IT-BEGINS
import http.server, sys, time
time.sleep(float(sys.argv[2]))
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer.allow_reuse_address = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H)
print(server.server_address[1], flush=True)
server.serve_forever()
