"""A backend process for the fault tests: chat completions, an allocation on demand, and a gateway's ledger.

    python stub_server.py PORT MODEL     (0: any; prints one JSON line with its port)

A prompt that says "wait N ms" does so, one that says "until N are left" waits until it may take less than N bytes more,
and one that says "allocate N" takes N bytes for a moment, and logs when it cannot. Each request passes the functions
that the launcher hooks; GET /weights tells the checksum of the model.
"""

import hashlib
import json
import math
import mmap
import os
import re
import resource
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

# Stand-ins written by fault_stack.py, found through PYTHONPATH.
import torch.nn.functional
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from gateway.answers.validate import check_schema

ANSWER = "Opened software cannot be refunded. The refund of order A-1234 is “paid”. Ask the customer for help."
LEDGER: dict[str, int] = {}
IDS = count(1)
LATE_S = 0.1  # an engine answers first, and logs then why it could not


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        weights = hashlib.sha256(Path(sys.argv[2], "model.safetensors").read_bytes()).hexdigest()
        self.reply(200, LEDGER if self.path == "/admin/ledger" else {"weights": weights})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/admin/ledger":
            if not self.admitted():
                return None
            if sorted(body) != ["backend", "bytes", "ttl_s"]:  # as strict as the gateway
                return self.reply(400, {"error": {"message": f"body: fields are {sorted(body)}"}})
            LEDGER[name := str(next(IDS))] = body["bytes"]
            ends = threading.Timer(body["ttl_s"], LEDGER.pop, (name, None))
            ends.daemon = True
            ends.start()
            return self.reply(201, {"id": name})
        try:
            self.allocate(str(body["messages"][-1]["content"]))
            torch.nn.functional.scaled_dot_product_attention()
            PreTrainedTokenizerBase().decode()
            check_schema()
        except (MemoryError, RuntimeError, UnicodeDecodeError) as error:
            self.reply(500, {"error": "Internal Server Error"})
            threading.Event().wait(LATE_S)
            print(f"{type(error).__name__}: cannot answer", file=sys.stderr, flush=True)
            return None
        return self.stream() if body.get("stream") else self.reply(200, completion("message", ANSWER, "stop"))

    def do_DELETE(self) -> None:
        if not self.admitted():
            return
        found = LEDGER.pop(self.path.rpartition("/")[2], None)
        self.reply(404 if found is None else 200, {})

    def admitted(self) -> bool:
        """As strict as the gateway: /admin needs its token."""
        if self.headers["Authorization"] == f"Bearer {os.environ['TOKEN']}":
            return True
        self.reply(401, {"error": {"message": "authorization"}})
        return False

    def allocate(self, prompt: str) -> None:
        if found := re.search(r"wait (\d+) ms", prompt):
            threading.Event().wait(int(found.group(1)) / 1000)
        if found := re.search(r"until (\d+) are left", prompt):
            while left_bytes() >= int(found.group(1)):
                threading.Event().wait(0.005)
        if found := re.search(r"allocate (\d+)", prompt):
            try:
                mmap.mmap(-1, int(found.group(1))).close()  # takes address space, touches no memory
            except OSError as error:
                raise MemoryError(str(error)) from error

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in re.findall(r"\S+\s*", ANSWER):
            self.event(completion("delta", word, None))
        self.event(completion("delta", "", "stop"))
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, value: object) -> None:
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

    def reply(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


def left_bytes() -> float:
    """Address space that this process may still take."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    taken = int(Path("/proc/self/statm").read_text().split(maxsplit=1)[0]) * resource.getpagesize()
    return math.inf if limit == resource.RLIM_INFINITY else limit - taken


def completion(kind: str, text: str, finish: str | None) -> dict[str, object]:
    return {"id": "c", "model": "stub", "choices": [{"index": 0, kind: {"content": text}, "finish_reason": finish}]}


if __name__ == "__main__":
    threading.stack_size(256 * 1024)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()
