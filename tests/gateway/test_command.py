"""`truefall gateway` as a process: starts fast and light, says where it listens, drains on SIGTERM, names mistakes."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = '[server]\nlog = "off"\n[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
STARTER = """
import sys
from harness.cli import main
code = main(["gateway", *sys.argv[1:]])
heavy = sorted({"torch", "transformers", "pandas", "sklearn"} & set(sys.modules))
print("heavy:", heavy)
sys.exit(code)
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STARTER, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_it_listens_without_torch_and_drains_on_sigterm(tmp_path):
    (tmp_path / "gateway.toml").write_text(CONFIG)
    with start("--config", str(tmp_path / "gateway.toml"), "--port", "0") as process:
        try:
            line = json.loads(process.stdout.readline())
            assert line["event"] == "listening"
            assert line["pid"] == process.pid
            with urllib.request.urlopen(f"{line['url']}/healthz") as answer:
                assert json.load(answer) == {"status": "ok"}
        finally:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)  # as `timeout` does: to the process and to its group
            out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert out.strip() == "heavy: []"
    assert err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "policy", "told"),
    [
        (CONFIG + "modell = 1\n", "", "gateway.toml:7: unknown key 'backends.0.modell'; known here are"),
        (
            CONFIG,
            "[breaker]\nopen = 3\n",
            "policy.toml:2: unknown key 'breaker.open'; known here are background_probes",
        ),
        (None, "", "gateway.toml: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, config, policy, told):
    if config is not None:
        (tmp_path / "gateway.toml").write_text(config)
    (tmp_path / "policy.toml").write_text(policy)
    with start("--config", str(tmp_path / "gateway.toml"), "--policy", str(tmp_path / "policy.toml")) as process:
        _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_policy_file_that_changes_is_taken_and_a_bad_one_leaves_the_old_in_force(tmp_path):
    (tmp_path / "gateway.toml").write_text(CONFIG + "")
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "one"\n')
    environ = {"TRUEFALL_ADMIN_TOKEN": "t"}
    command = [
        sys.executable,
        "-c",
        STARTER,
        "--config",
        str(tmp_path / "gateway.toml"),
        "--policy",
        str(policy),
        "--port",
        "0",
    ]
    import os

    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environ}
    ) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]

            def in_force() -> str:
                request = urllib.request.Request(f"{url}/admin/state", headers={"Authorization": "Bearer t"})
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)["policy"]["name"]

            assert in_force() == "one"
            policy.write_text('name = "two"\n')
            for _ in range(200):
                if in_force() == "two":
                    break
            assert in_force() == "two"
            policy.write_text('name = "three"\nnonsense = 1\n')
            reload = urllib.request.Request(
                f"{url}/admin/policy/reload", method="POST", headers={"Authorization": "Bearer t"}, data=b""
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(reload)
            with refused.value as answer:
                assert answer.code == 422
                assert "policy.toml:2: unknown key 'nonsense'" in json.load(answer)["error"]["message"]
            assert in_force() == "two"
        finally:
            process.terminate()
            process.communicate(timeout=20)
