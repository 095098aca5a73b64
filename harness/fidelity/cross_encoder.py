"""A cross-encoder that reads reference and candidate together: how likely is it that the candidate misleads?

It is the packaged sentence encoder with what `train_cross_encoder` changed in it. Its data, how it was made and what it
is worth are in `data/CARD.md`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, ModelError
from harness.fidelity.model_folder import encoder_path, load, model_revision
from harness.fidelity.pair_tokens import PairTokenizer, PairTokens
from harness.fidelity.windows import batches

NAME = "cross_encoder"
ADAPTER = Path(__file__).parent / "data" / "cross_encoder.safetensors"
RANK = 16  # of what is kept of each change
TOKENS_AT_ONCE = 4096
KEPT_PAIRS = 20_000  # whose answer is remembered
_BASE, _HEAD = "base_revision", "head."


class Reader:
    """The encoder and a linear head over its [CLS] and mean token."""

    def __init__(self, tokens: PairTokenizer, encoder: Any, head: Any, *, base: str, device: str) -> None:
        self.tokens, self.encoder, self.head, self.base, self.device = tokens, encoder, head, base, device

    def logits(self, pairs: Sequence[PairTokens]) -> Any:
        """float32[pairs]: above 0, the candidate rather misleads."""
        import torch

        longest = max(len(one.ids) for one in pairs)

        def padded(rows: Sequence[list[int]]) -> Any:
            return torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=self.device)

        mask = padded([[1] * len(one.ids) for one in pairs])
        hidden = self.encoder(
            input_ids=padded([one.ids for one in pairs]),
            token_type_ids=padded([one.segments for one in pairs]),
            attention_mask=mask,
        ).last_hidden_state.float()
        weight = mask.unsqueeze(-1).float()
        mean = (hidden * weight).sum(1) / weight.sum(1)
        return self.head(torch.cat([hidden[:, 0], mean], -1)).squeeze(-1)


class CrossEncoder:
    """Answers for pairs of texts, each distinct pair once. Raises ModelError without the packaged encoder."""

    def __init__(self, adapter: Path = ADAPTER, *, device: str = "cpu") -> None:
        self._reader = with_adapter(adapter, device=device)
        self._known: dict[tuple[str, str], float | None] = {}  # the oldest first

    def doubts(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Per (reference, candidate), the probability in [0, 1] that the candidate misleads.

        None for a pair that is longer than it reads.
        """
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        found = dict(zip(fresh, self._read(fresh), strict=True))
        told = [found[pair] if pair in found else self._known[pair] for pair in pairs]
        self._known.update(found)
        while len(self._known) > KEPT_PAIRS:
            del self._known[next(iter(self._known))]
        return told

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        import torch

        tokens = self._reader.tokens.pairs(pairs)
        found: list[float | None] = [None] * len(pairs)
        read = [(index, one) for index, one in enumerate(tokens) if one is not None]
        for group in batches([len(one.ids) for _, one in read], TOKENS_AT_ONCE):
            part = [read[i] for i in group]
            with torch.inference_mode():
                likely = torch.sigmoid(self._reader.logits([one for _, one in part]))
            for (index, _), value in zip(part, likely.tolist(), strict=True):
                found[index] = float(value)
        return found


@cache
def shipped_cross_encoder(device: str = "cpu") -> CrossEncoder:
    """The one that comes along, loaded at its first use. Raises ModelError, ConfigError."""
    return CrossEncoder(device=device)


def open_base(*, seed: int = 0, device: str = "cpu") -> Reader:
    """The packaged encoder with a head that knows nothing yet."""
    import torch

    path = encoder_path()
    tokenizer, encoder = load(path, device=device, precision="float32")
    torch.manual_seed(seed)
    head = torch.nn.Linear(2 * int(encoder.config.hidden_size), 1).to(device)
    return Reader(PairTokenizer(tokenizer), encoder, head, base=model_revision(path), device=device)


def write_adapter(target: Path, reader: Reader) -> None:
    """What differs from the packaged encoder: matrices at rank `RANK`, vectors and the head whole, all in float16."""
    import torch
    from safetensors.torch import save_file

    plain = dict(open_base().encoder.named_parameters())
    kept: dict[str, Any] = {}
    for name, weight in reader.encoder.named_parameters():
        change = (weight.detach() - plain[name].detach()).float().cpu()
        if name.startswith("embeddings.") or not bool(change.any()):
            continue
        if change.ndim == 2:
            left, sizes, right = torch.linalg.svd(change, full_matrices=False)
            root = sizes[:RANK].sqrt()
            kept[f"{name}.left"] = (left[:, :RANK] * root).half().contiguous()
            kept[f"{name}.right"] = (root[:, None] * right[:RANK]).half().contiguous()
        else:
            kept[name] = change.half().contiguous()
    for name, weight in reader.head.state_dict().items():
        kept[f"{_HEAD}{name}"] = weight.half().contiguous()
    save_file(kept, target, metadata={_BASE: reader.base})


def with_adapter(adapter: Path, *, device: str = "cpu") -> Reader:
    """The packaged encoder as it was trained. Raises ConfigError for a damaged file or one for other weights."""
    import torch
    from safetensors import SafetensorError, safe_open

    reader = open_base(device=device)
    try:
        with safe_open(adapter, framework="pt", device="cpu") as file:
            base = (file.metadata() or {}).get(_BASE)
            kept: Mapping[str, Any] = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ConfigError(f"{adapter} is no adapter of the cross-encoder: {error}; install Truefall again") from None
    if base != reader.base:
        raise ModelError(f"{adapter} was trained for other weights than the packaged encoder's: install both again")
    with torch.no_grad():
        for name, weight in reader.encoder.named_parameters():
            if f"{name}.left" in kept:
                weight.add_((kept[f"{name}.left"] @ kept[f"{name}.right"]).to(device))
            elif name in kept:
                weight.add_(kept[name].to(device))
        reader.head.load_state_dict({name.removeprefix(_HEAD): kept[name] for name in kept if name.startswith(_HEAD)})
    reader.encoder.eval()
    return reader
