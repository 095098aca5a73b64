"""A gateway of yours, as small as can be: `python small_gateway.py PORT BACKEND_URL`.

It asks the backend, and says a canned sentence when that fails. Two things let Truefall test it: it passes the header
`x-truefall-trial` on, and it marks what plan B said.
"""

import http.client
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

PATIENCE_S = 1.0
PLAN_B = "We cannot answer right now. Please try again in a few minutes."
PASSED_ON = ("Content-Type", "x-truefall-trial", "x-tenant-id")


class Answer(NamedTuple):
    body: bytes
    kind: str
    degraded: bool = False


class Gateway(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(ask_backend("GET", self.path, None, {}) or Answer(b'{"data": []}', "application/json"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: self.headers[name] for name in PASSED_ON if self.headers[name]}
        self.reply(ask_backend("POST", self.path, body, headers) or plan_b(bool(json.loads(body).get("stream"))))

    def reply(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("x-degradation-level", "degraded" if answer.degraded else "healthy")
        if answer.degraded:
            self.send_header("x-degradation-path", "canned")
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def ask_backend(method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer | None:
    """None: it failed, was too slow, or said something that is no answer."""
    backend = urlsplit(sys.argv[2])
    connection = http.client.HTTPConnection(backend.hostname or "", backend.port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = Answer(response.read(), response.headers["Content-Type"])
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    whole = answer.body.endswith(b"data: [DONE]\n\n") if "event-stream" in answer.kind else is_json(answer.body)
    return answer if response.status == 200 and whole else None


def is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def plan_b(stream: bool) -> Answer:
    field = "delta" if stream else "message"
    choice = {"index": 0, field: {"role": "assistant", "content": PLAN_B}, "finish_reason": "stop"}
    body = json.dumps({"model": "canned", "choices": [choice]})
    if stream:
        return Answer(f"data: {body}\n\ndata: [DONE]\n\n".encode(), "text/event-stream", degraded=True)
    return Answer(body.encode(), "application/json", degraded=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Gateway)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()
