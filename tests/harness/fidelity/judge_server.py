"""A server on 127.0.0.1 that speaks as much of an OpenAI-compatible API as a judge needs."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes]


def completion(verdict: str, reason: str = "because", **more: Any) -> Reply:
    content = json.dumps({"verdict": verdict, "reason": reason}, ensure_ascii=False)
    return 200, json.dumps({"choices": [{"message": {"content": content, **more}, "finish_reason": "stop"}]}).encode()


class Model:
    """A server that answers with what `reply` makes of the request, and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Callable[[dict[str, Any]], Reply] = lambda _: completion("faithful")
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.go_on = threading.Event()
        self.hangs = False

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:
                body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
                self.asked.append(body)
                self.headers.append({"path": handler.path, **dict(handler.headers)})
                if self.hangs:
                    self.go_on.wait(5)
                    return
                status, content = self.reply(body)
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(content)))
                handler.end_headers()
                handler.wfile.write(content)

            def log_message(handler, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1/chat/completions"

    def close(self) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
