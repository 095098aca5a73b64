"""When a process is started again, after which wait, and in which launch; and which weights are whole."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.watchdog.config import Launch, WatchdogConfig
from gateway.watchdog.watch import (
    TRANSITIONS,
    IllegalTransition,
    Phase,
    Seen,
    Sign,
    Watch,
    after,
    back_off_s,
    cause_in,
    judge,
)
from gateway.watchdog.weights import first_whole, problem_of

SDPA = Launch(name="sdpa", after="kernel", command=("serve", "--attn-implementation", "sdpa"))
SMALL = Launch(name="bf16", after="memory", command=("serve", "--dtype", "bfloat16"))
MARKS = WatchdogConfig(command=("serve",), degraded=(SDPA, SMALL), stable_s=60.0, back_off_s=1.0, max_back_off_s=30.0)
WELL = Seen(exited=False, answers=True)
RUNNING = Watch(phase=Phase.RUNNING, since_s=0.0, starts=1)
STARTING = Watch(phase=Phase.STARTING, since_s=0.0, starts=1)


@pytest.mark.parametrize(("watch", "seen", "now_s", "sign"), [
    (Watch(due_s=5.0), Seen(exited=True, answers=False), 4.9, None),
    (Watch(due_s=5.0), Seen(exited=True, answers=False), 5.0, Sign.DUE),
    (STARTING, Seen(exited=False, answers=False), 119.0, None),
    (STARTING, Seen(exited=False, answers=False), 121.0, Sign.LATE),
    (STARTING, Seen(exited=True, answers=False), 1.0, Sign.EXITED),
    (STARTING, WELL, 1.0, Sign.READY),
    (RUNNING, WELL, 1.0, None),
    (RUNNING, Seen(exited=True, answers=False), 1.0, Sign.EXITED),
    (RUNNING, Seen(exited=False, answers=False, failed_probes=2), 1.0, None),
    (RUNNING, Seen(exited=False, answers=False, failed_probes=3), 1.0, Sign.HUNG),
    (RUNNING, Seen(exited=False, answers=True, kernel_failures=2), 1.0, Sign.KERNEL),
    (RUNNING, Seen(exited=False, answers=True, memory_failures=2), 1.0, None),
    (RUNNING, Seen(exited=False, answers=True, memory_failures=3), 1.0, Sign.MEMORY),
    (replace(RUNNING, launch=2), Seen(exited=False, answers=True, memory_failures=9), 1.0, None),  # none is left
])  # fmt: skip
def test_a_look_means(watch, seen, now_s, sign):
    assert judge(watch, seen, now_s=now_s, marks=MARKS) is sign


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("sign", Sign)
def test_only_the_table_moves_the_phase(phase, sign):
    watch = Watch(phase=phase)
    if (phase, sign) in TRANSITIONS:
        assert after(watch, sign, now_s=1.0, marks=MARKS).phase is TRANSITIONS[phase, sign]
    else:
        with pytest.raises(IllegalTransition):
            after(watch, sign, now_s=1.0, marks=MARKS)


@settings(derandomize=True)
@given(st.integers(1, 2000))
def test_the_back_off_doubles_up_to_its_bound(failures):
    assert back_off_s(failures, MARKS) == min(30.0, 2.0 ** min(failures - 1, 10))


def test_a_stable_run_starts_the_back_off_anew():
    tired = Watch(phase=Phase.RUNNING, since_s=0.0, failures=5)
    assert after(tired, Sign.EXITED, now_s=61.0, marks=MARKS).failures == 1
    assert after(tired, Sign.EXITED, now_s=59.0, marks=MARKS).failures == 6


@pytest.mark.parametrize(("watch", "sign", "cause", "launch"), [
    (RUNNING, Sign.EXITED, "any", 0),  # killed: started as it was
    (RUNNING, Sign.HUNG, "any", 0),
    (RUNNING, Sign.KERNEL, "any", 1),
    (RUNNING, Sign.MEMORY, "any", 2),
    (RUNNING, Sign.EXITED, "kernel", 1),
    (RUNNING, Sign.EXITED, "memory", 2),
    (Watch(phase=Phase.RUNNING, launch=1), Sign.EXITED, "any", 1),  # the degraded launch is kept
    (Watch(phase=Phase.RUNNING, launch=1), Sign.EXITED, "memory", 2),
    (Watch(phase=Phase.RUNNING, launch=2), Sign.KERNEL, "any", 2),  # nothing further
    (Watch(phase=Phase.VERIFYING, launch=1), Sign.DAMAGED, "any", 1),
    (STARTING, Sign.EXITED, "any", 0),  # no launch is meant for any failed start
])  # fmt: skip
def test_the_next_launch_follows_the_cause(watch, sign, cause, launch):
    assert after(watch, sign, now_s=1.0, marks=MARKS, cause=cause).launch == launch


def test_the_usual_launch_is_tried_again_later():
    old = Watch(phase=Phase.RUNNING, launch=1, launch_since_s=0.0)
    assert after(old, Sign.EXITED, now_s=601.0, marks=MARKS).launch == 0


@pytest.mark.parametrize(("words", "cause"), [
    ("torch.cuda.OutOfMemoryError: CUDA out of memory", "memory"),
    ("RuntimeError: CUBLAS_STATUS_ALLOC_FAILED", "memory"),
    ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`", "kernel"),
    ("flash_attn is not installed", "kernel"),
    ("KeyError: 'model'", "any"),
])  # fmt: skip
def test_last_words_name_the_cause(words, cause):
    assert cause_in(words) == cause


def folder(path, content=b"weights", *, wrong=False):
    path.mkdir()
    (path / "model.safetensors").write_bytes(content)
    digest = hashlib.sha256(b"other" if wrong else content).hexdigest()
    (path / "truefall-model.json").write_text(json.dumps({"name": "m", "files": {"model.safetensors": digest}}))
    return path


def test_the_first_whole_copy_is_used(tmp_path):
    bad, good = folder(tmp_path / "bad", wrong=True), folder(tmp_path / "good")
    found = first_whole([bad, good])
    assert found.folder == good
    assert "bad/model.safetensors is damaged" in found.damaged[0]
    assert first_whole([bad]).folder is None


def test_weights_without_checksums_or_files_are_not_whole(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert "no checksums" in problem_of(tmp_path)
    assert "No such file" in problem_of(tmp_path / "absent") or "no checksums" in problem_of(tmp_path / "absent")


@pytest.mark.parametrize("kept", [150, 144, 142, 108, 78, 76])
def test_a_list_of_checksums_that_was_itself_cut_vouches_for_nothing(tmp_path, kept):
    names = ("config.json", "model.safetensors")
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    sums = "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in names)
    (tmp_path / "SHA256SUMS").write_text(sums)
    assert problem_of(tmp_path) is None
    (tmp_path / "SHA256SUMS").write_text(sums[:kept])
    told = problem_of(tmp_path)
    assert told is not None
    assert "\n" not in told


def test_a_damaged_list_is_told_with_its_line_and_what_to_do(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"a")
    (tmp_path / "SHA256SUMS").write_text(f"\n{hashlib.sha256(b'a').hexdigest()}\n")
    assert "line 2 is" in problem_of(tmp_path)
    assert "write it with sha256sum" in problem_of(tmp_path)


@pytest.mark.parametrize("between", ["  ", " *", " ", "\t", "\t*"])
def test_a_list_in_any_usual_writing_counts(tmp_path, between):
    (tmp_path / "a #1.bin").write_bytes(b"a")
    line = f"{hashlib.sha256(b'a').hexdigest()}{between}a #1.bin"
    (tmp_path / "SHA256SUMS").write_text(f"# weights of v2\r\n\r\n  # {line}\n{line}\r\n")
    assert problem_of(tmp_path) is None
    (tmp_path / "a #1.bin").write_bytes(b"b")
    assert "is damaged: its sha256 is" in problem_of(tmp_path)


@pytest.mark.parametrize(
    "line", ["{0}", "{0} ", "{0}\t", "{0} *", "{0}a.bin", "{0}  *", "a.bin", "a.bin  {0}", "{1}  a.bin"]
)
def test_a_line_without_a_sha256_and_a_name_is_damage(tmp_path, line):
    (tmp_path / "a.bin").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"# weights\n{digest}  a.bin\n{line.format(digest, digest[1:])}\n")
    assert "SHA256SUMS is damaged: line 3 is" in problem_of(tmp_path)


@pytest.mark.parametrize("named_in", ["SHA256SUMS", "truefall-model.json"])
def test_weights_that_no_line_names_are_not_whole(tmp_path, named_in):
    digest = hashlib.sha256(b"{}").hexdigest()
    (tmp_path / "config.json").write_bytes(b"{}")
    listed = json.dumps({"files": {"config.json": digest}}) if named_in.endswith("json") else f"{digest} *config.json\n"
    (tmp_path / named_in).write_text(listed)
    assert problem_of(tmp_path) is None
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"x")
    assert "model-00002-of-00002.safetensors has no checksum" in problem_of(tmp_path)


def test_a_list_as_sha256sum_writes_it_counts(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"a")
    (tmp_path / "SHA256SUMS").write_text(f"{hashlib.sha256(b'a').hexdigest()}  a.bin\n")
    assert problem_of(tmp_path) is None
    (tmp_path / "a.bin").write_bytes(b"b")
    assert "damaged" in problem_of(tmp_path)
