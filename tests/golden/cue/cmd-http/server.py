"""Answers what it was asked, over HTTP and over HTTPS (cert.pem, key.pem); writes the two ports to `ports`."""
import http.server, os, ssl, threading


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        size = int(self.headers.get("content-length", 0))
        asked = self.rfile.read(size).decode()
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/there")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/chunks":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"3\r\none\r\n4\r\n two\r\n0\r\nX-Sum: 7\r\n\r\n")
            return
        body = f"{self.command} {self.path} {asked} {self.headers.get_all('x-one')} {self.headers.get('content-type')}".encode()
        self.send_response(200 if self.path != "/none" else 404)
        self.send_header("set-cookie", "a=1")
        self.send_header("set-cookie", "b=2")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
safe = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
safe.socket = context.wrap_socket(safe.socket, server_side=True)
threading.Thread(target=safe.serve_forever, daemon=True).start()
with open("ports.new", "w") as f:
    f.write(f"{plain.server_port} {safe.server_port}")
os.rename("ports.new", "ports")
plain.serve_forever()
