"""A cache's shape written in the config says the same as the model's config.json."""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import pytest
from fake_clock import FakeClock

from gateway.backends.backend import Backend, build
from gateway.config import Backend as Configured
from gateway.errors import ConfigError
from gateway.memory.config import CacheShape, Memory
from gateway.memory.estimate import KvShape, kv_bytes, kv_peak_bytes
from gateway.policy import Policy

PLAIN: dict[str, Any] = {"num_hidden_layers": 6, "num_attention_heads": 8, "head_dim": 16, "dtype": "float16"}
SAME = [
    (CacheShape(layers=6, kv_heads=2, head_dim=16), {**PLAIN, "num_key_value_heads": 2}),
    (CacheShape(layers=6, kv_heads=8, head_dim=16, dtype="float32"), {**PLAIN, "dtype": "float32"}),
    (CacheShape(layers=6, kv_heads=8, head_dim=16, window_tokens=9), {**PLAIN, "sliding_window": 9}),
    (
        CacheShape(layers=6, kv_heads=8, head_dim=16, window_tokens=9, sliding_layers=3),
        {**PLAIN, "sliding_window": 9, "sliding_window_pattern": 2},
    ),
    (
        CacheShape(layers=6, kv_lora_rank=16, qk_rope_head_dim=8),
        {**PLAIN, "kv_lora_rank": 16, "qk_rope_head_dim": 8},
    ),
]


async def made(memory: Memory, model_dir: Path | None = None) -> Backend:
    configured = Configured(name="p", url="http://127.0.0.1:1/v1", model="m", memory=memory, model_dir=model_dir)
    async with aiohttp.ClientSession() as session:
        return build(
            configured,
            session=session,
            policy=Policy,
            clock=FakeClock(),
            environ=MappingProxyType({}),
            tell=lambda _event, _detail: None,
        )


@pytest.mark.parametrize(("written", "model_config"), SAME)
@pytest.mark.parametrize(
    "cache", [{}, {"kv_dtype": "int4", "scale_values": 32}, {"block_tokens": 16, "tensor_parallel": 2}]
)
async def test_the_backend_reserves_what_the_models_own_config_says(
    written: CacheShape, model_config: dict[str, Any], cache: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(model_config))
    by_hand = await made(Memory(kv_capacity_bytes=10**9, shape=written, **cache))
    by_file = await made(Memory(kv_capacity_bytes=10**9, **cache), tmp_path)
    assert by_hand.kv_bytes(100, 20) == by_file.kv_bytes(100, 20) > 0


async def test_scales_of_a_quantised_cache_are_reserved_too() -> None:
    shape = CacheShape(layers=6, kv_heads=8, head_dim=16)
    bare = await made(Memory(kv_capacity_bytes=10**9, shape=shape, kv_dtype="int4"))
    scaled = await made(Memory(kv_capacity_bytes=10**9, shape=shape, kv_dtype="int4", scale_values=32))
    values = 2 * 6 * 8 * 16 * 120
    assert (bare.kv_bytes(100, 20), scaled.kv_bytes(100, 20)) == (values // 2, values // 2 + values // 32 * 4)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            None,
            "config.json is not there; name the folder of a whole model in model_dir, or set [backends.mem",
        ),
        ("{", "cannot be read"),
        ("[1]", "holds no JSON object"),
        ("{}", "num_hidden_layers is None"),
    ],
)
async def test_a_capacity_without_a_shape_is_refused_in_one_line(
    content: str | None, told: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigError) as refused:
        await made(Memory(kv_capacity_bytes=10**9), tmp_path)
    assert str(refused.value).startswith("backend 'p': ")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (await made(Memory(), tmp_path)).shape is None  # nothing is promised: nothing has to be known


def test_a_peak_is_never_under_what_is_held_afterwards() -> None:
    for written, _ in SAME:
        shape = KvShape.from_config(written.model_config())
        assert all(kv_peak_bytes(shape, 30, more) >= kv_bytes(shape, 30 + more) for more in range(40))
