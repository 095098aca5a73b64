"""A backend as a real small process: `python small_backend.py PORT MODE WEIGHTS`. Standard library only.

Modes: `good` answers; `exits` prints WEIGHTS and ends with 3 at once; `kernel` answers every chat with a cuBLAS error,
`memory` says that memory ran out.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, MODE, WORDS = int(sys.argv[1]), sys.argv[2], sys.argv[3]
FAILURES = {
    "kernel": "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED",
    "memory": "CUDA out of memory. Tried to allocate 2.00 GiB",
}


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say(200, {"status": "ok"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if MODE in FAILURES:
            self._say(500, {"error": {"message": FAILURES[MODE]}})
            return
        message = {"role": "assistant", "content": f"from {WORDS}"}
        self._say(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _say(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Quiet."""


if MODE == "exits":
    print(WORDS, flush=True)
    sys.exit(3)
ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
