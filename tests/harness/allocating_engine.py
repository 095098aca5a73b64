"""A serving engine as a small process: `allocating_engine.py PORT BYTES_PER_TOKEN`. Standard library only.

It holds the memory of a request's KV cache, a token for three characters, while it works on it. An allocation that the
system refuses is a 500 and a line on stderr, as in a larger engine.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, BYTES_PER_TOKEN = int(sys.argv[1]), int(sys.argv[2])
WORK_S = 0.1


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say(200, {"status": "ok"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chars = sum(len(message["content"]) for message in body["messages"])
        try:
            cache = bytearray(chars // 3 * BYTES_PER_TOKEN)
        except MemoryError:
            print("MemoryError: no memory for the cache", file=sys.stderr, flush=True)
            self._say(500, {"error": {"message": "MemoryError: out of memory"}})
            return
        threading.Event().wait(WORK_S)
        del cache
        message = {"role": "assistant", "content": "Five days."}
        self._say(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _say(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Quiet."""


threading.stack_size(256 * 1024)  # what a thread reserves is no part of the caches
ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
