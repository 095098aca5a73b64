"""A stand-in for a model server: `python backend.py PORT` (0: any; prints one JSON line with its port)."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "Opened software cannot be refunded."


class Model(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(b'{"data": [{"id": "shop-model"}]}', "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not asked.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
            return self.reply(json.dumps({"model": "shop-model", "choices": [choice]}).encode(), "application/json")
        words = [{"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None} for word in ANSWER.split()]
        chunks = [*words, {"index": 0, "delta": {}, "finish_reason": "stop"}]
        events = [json.dumps({"model": "shop-model", "choices": [chunk]}) for chunk in chunks]
        self.reply("".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode(), "text/event-stream")

    def reply(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()
