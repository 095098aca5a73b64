"""Start everything and write `stack.toml`: `python start.py [FOLDER]`; it runs until Ctrl-C, and then ends it all.

your gateway → semantic fault proxy → Toxiproxy → your backend
"""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
STACK = """\
[gateway]
url = "http://127.0.0.1:{gateway}"
model = "shop-model"

[backends.primary]
url = "http://127.0.0.1:{backend}"
toxiproxy_url = "{toxiproxy}"
toxiproxy_proxy = "primary"
semantic_url = "{semantic}"
pid = {pid}
"""


class Started:
    """The processes, in the order in which they were started."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []

    def run(self, *argv: str) -> dict[str, object]:
        """Start a server of Python; it says where it listens with one JSON line."""
        process = subprocess.Popen([sys.executable, *argv], stdout=subprocess.PIPE)
        self.processes.append(process)
        return dict(json.loads(process.stdout.readline()))  # type: ignore[union-attr]

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def start(folder: Path) -> Started:
    started = Started()
    backend = started.run(str(HERE / "backend.py"), "0")["port"]
    pid = started.processes[-1].pid
    toxiproxy = str(started.run("-m", "faults.toxiproxy", "--port", "0")["url"])
    wanted = {"name": "primary", "listen": "127.0.0.1:0", "upstream": f"127.0.0.1:{backend}"}
    request = urllib.request.Request(f"{toxiproxy}/proxies", json.dumps(wanted).encode(), method="POST")
    with urllib.request.urlopen(request) as reply:
        listen = json.load(reply)["listen"]
    semantic = str(started.run("-m", "faults.semantic", "--upstream", f"http://{listen}")["url"])
    gateway = started.run(str(HERE / "small_gateway.py"), "0", semantic)["port"]
    stack = STACK.format(gateway=gateway, backend=backend, toxiproxy=toxiproxy, semantic=semantic, pid=pid)
    (folder / "stack.toml").write_text(stack, "utf-8")
    return started


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    started = start(folder)
    print(f"running; {folder / 'stack.toml'} is written", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        started.stop()
