"""The memory ballast's decision, and its refusal where there is no GPU."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.ballast import BLOCK_BYTES, TOLERANCE_BYTES, decide

BYTES = st.integers(0, 2**38)


@given(free=BYTES, target=BYTES, held=st.integers(0, 4096))
def test_one_step_brings_free_memory_to_the_target_and_the_next_one_rests(free: int, target: int, held: int) -> None:
    blocks = decide(free_bytes=free, target_bytes=target, held_blocks=held).blocks
    after = free - blocks * BLOCK_BYTES
    assert held + blocks >= 0
    if held + blocks > 0:
        assert abs(after - target) <= TOLERANCE_BYTES + BLOCK_BYTES
        assert decide(free_bytes=after, target_bytes=target, held_blocks=held + blocks).blocks == 0


def test_it_never_takes_more_than_there_is() -> None:
    assert decide(free_bytes=10 * BLOCK_BYTES, target_bytes=0, held_blocks=0).blocks <= 10


@pytest.mark.slow
def test_without_a_gpu_the_child_says_so() -> None:
    argv = [sys.executable, "-m", "faults.ballast", "--free-bytes", "1000000"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 0:
        pytest.skip("there is a GPU here")
    assert done.returncode == 2
    assert "CUDA" in json.loads(done.stdout)["error"]
