"""`python -m harness.stack.transformers_engine [--int8] serve MODEL …`: `transformers`, with two things of ours.

Its log also has the failures of streams: `transformers serve` logs why a JSON answer failed, but tells why a stream
failed to the client alone. The proof that memory really ran out is looked for in the log, so both have to be there.

`--int8` serves the light replica: most linear layers with 8-bit weights, one scale per output channel, and activations
quantised as they come, by torch's own kernels for the CPU.
"""

import functools
import sys
import warnings
from typing import Any


def log_stream_failures() -> None:
    """Have each failed stream say why on stderr; nothing is changed where this release names its parts otherwise."""
    from transformers.cli.serving import utils

    failure: Any = getattr(utils, "_StreamError", None)
    if failure is None:
        return
    begin = failure.__init__

    @functools.wraps(begin)
    def begin_and_log(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        print(f"a stream failed: {' '.join(map(str, args))}", file=sys.stderr, flush=True)

    failure.__init__ = begin_and_log


def load_in_int8() -> None:
    """Have every model that is loaded quantised. Raises AttributeError where this release names its parts otherwise."""
    from transformers.cli.serving.model_manager import ModelManager

    load: Any = ModelManager._load_model

    @functools.wraps(load)
    def load_and_quantise(self: Any, *args: Any, **kwargs: Any) -> Any:
        return in_int8(load(self, *args, **kwargs))

    ModelManager._load_model = load_and_quantise


def in_int8(model: Any) -> Any:
    """The float32 model with its linear layers in 8 bits; the rest, the KV cache too, stays as it is.

    Layers that narrow (the down projections) stay, too: single inputs of theirs are thousands of times as large as the
    rest, and one scale for all of them leaves nothing of the rest (docs/design/models.md has the figures).
    """
    import torch
    from torch.ao import quantization

    if "x86" in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = "x86"
    linear = {name: layer for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)}
    wanted = {
        name: quantization.per_channel_dynamic_qconfig
        for name, layer in linear.items()
        if layer.in_features <= layer.out_features
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated for torchao, whose kernels are ten times slower here
        quantise: Any = quantization.quantize_dynamic
        return quantise(model, wanted, inplace=True)


def main() -> None:
    from transformers.cli.transformers import main as transformers

    log_stream_failures()
    arguments = sys.argv[1:]
    if arguments[:1] == ["--int8"]:
        load_in_int8()
        arguments = arguments[1:]
    sys.argv = ["transformers", *arguments]
    transformers()


if __name__ == "__main__":
    main()
