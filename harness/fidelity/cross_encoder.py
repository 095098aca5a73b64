"""Two cross-encoders that read reference and candidate together: does the candidate mislead, does it abstain?

They are the packaged sentence encoder and the packaged multilingual one with what `train_cross_encoder` changed in
them. Their data, how they were made and what they are worth are in `data/CARD.md`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import ConfigError, ModelError
from harness.fidelity.model_folder import encoder_path, load, weights_revision
from harness.fidelity.packaged_e5 import open_e5
from harness.fidelity.pair_tokens import PairTokenizer, PairTokens, UnigramPairs, WordPiecePairs
from harness.fidelity.risk import likely, log_odds
from harness.fidelity.windows import batches

NAME = "cross_encoder"
DATA = Path(__file__).parent / "data"
SMALL, LARGE = "minilm", "e5"  # English, and half as dear; Chinese and English
RANKS = {SMALL: 16, LARGE: 64}  # of what is kept of each change
TOKENS_AT_ONCE = 4096
KEPT_PAIRS = 20_000  # whose answer is remembered
HEAD = "head."  # before the names of its weights in the file
_REVISION = "base_revision"
Told = Sequence[float] | None  # how likely it is to mislead and, of the large one, to abstain; None: too long to read


class Opinion(NamedTuple):
    """What the cross-encoders make of a candidate beside its reference, each a probability in [0, 1]."""

    misleads: float  # of both: their log odds, averaged
    abstains: float | None  # of the multilingual one; None: it was not asked
    read: bool = True  # False: nobody was asked, `misleads` is what the checks let expect


class Reader:
    """The encoder and a linear head over its first and its mean token."""

    def __init__(self, tokens: PairTokenizer, encoder: Any, head: Any, *, base: str, device: str) -> None:
        self.tokens, self.encoder, self.head, self.base, self.device = tokens, encoder, head, base, device

    def logits(self, pairs: Sequence[PairTokens]) -> Any:
        """float32[pairs, 1 or 2]: above 0, the candidate rather misleads, and rather abstains."""
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
        return self.head(torch.cat([hidden[:, 0], mean], -1))


class CrossEncoder:
    """Answers for pairs of texts, each distinct pair once. Raises ModelError without the packaged encoders."""

    def __init__(self, folder: Path = DATA, *, device: str = "cpu") -> None:
        self._readers = {name: with_adapter(name, adapter_of(name, folder), device=device) for name in BASES}
        # By the digest of a pair, the oldest first.
        self._known: dict[str, dict[bytes, Told]] = {name: {} for name in BASES}

    def told(self, name: str, pairs: Sequence[tuple[str, str]]) -> list[Told]:
        """What the encoder `name` tells of each (reference, candidate), in order."""
        known = self._known[name]
        keys = [digest_of(*pair) for pair in pairs]
        fresh = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        found = dict(zip(fresh, self._read(name, list(fresh.values())), strict=True))
        told = [found[key] if key in found else known[key] for key in keys]
        known.update(found)
        while len(known) > KEPT_PAIRS:
            del known[next(iter(known))]
        return told

    def _read(self, name: str, pairs: Sequence[tuple[str, str]]) -> list[Told]:
        return list(probabilities(self._readers[name], pairs))


def together(small: Told, large: Told) -> Opinion | None:
    """The opinion of both; of the large one alone where the small one cannot read a pair that long."""
    if large is None:
        return None
    told = [log_odds(one[0]) for one in (small, large) if one is not None]
    return Opinion(likely(sum(told) / len(told)), large[1])


def probabilities(reader: Reader, pairs: Sequence[tuple[str, str]]) -> list[list[float] | None]:
    """Per pair what `Reader.logits` tells, as probabilities; None for one that is longer than it reads."""
    import torch

    tokens = reader.tokens.pairs(pairs)
    found: list[list[float] | None] = [None] * len(pairs)
    read = [(index, one) for index, one in enumerate(tokens) if one is not None]
    for group in batches([len(one.ids) for _, one in read], TOKENS_AT_ONCE):
        part = [read[i] for i in group]
        with torch.inference_mode():
            likely = torch.sigmoid(reader.logits([one for _, one in part]))
        for (index, _), values in zip(part, likely.tolist(), strict=True):
            found[index] = values
    return found


def digest_of(reference: str, candidate: str) -> bytes:
    """16 bytes in place of two texts of any length; where the first ends counts, too."""
    first, second = (text.encode("utf-8", "surrogatepass") for text in (reference, candidate))
    return hashlib.blake2b(len(first).to_bytes(8) + first + second, digest_size=16).digest()


@cache
def shipped_cross_encoder(device: str = "cpu") -> CrossEncoder:
    """The one that comes along, loaded at its first use. Raises ModelError, ConfigError."""
    return CrossEncoder(device=device)


class _Base(NamedTuple):
    """A packaged encoder as it comes."""

    tokens: PairTokenizer
    encoder: Any
    revision: str


def _minilm(device: str) -> _Base:
    path = encoder_path()
    tokenizer, encoder = load(path, device=device, precision="float32")
    return _Base(WordPiecePairs(tokenizer), encoder, weights_revision(path))


def _e5(device: str) -> _Base:
    e5 = open_e5()
    return _Base(UnigramPairs(e5.tokenizer, e5.begin, e5.end), e5.encoder.to(device), e5.revision)


BASES: Mapping[str, tuple[Callable[[str], _Base], int]] = {  # how each is opened, how many fields of Opinion it tells
    SMALL: (_minilm, 1),
    LARGE: (_e5, 2),
}


def adapter_of(name: str, folder: Path = DATA) -> Path:
    """The file with what training changed in the encoder `name`."""
    return folder / f"cross_encoder_{name}.safetensors"


def open_base(name: str, *, seed: int = 0, device: str = "cpu") -> Reader:
    """The packaged encoder `name` of `BASES` with a head that knows nothing yet."""
    import torch

    opened, answers = BASES[name]
    base = opened(device)
    torch.manual_seed(seed)
    head = torch.nn.Linear(2 * int(base.encoder.config.hidden_size), answers).to(device)
    return Reader(base.tokens, base.encoder, head, base=base.revision, device=device)


def write_adapter(base: str, target: Path, reader: Reader) -> None:
    """What differs from the packaged encoder: matrices at its rank, vectors and the head whole, all in float16."""
    import torch
    from safetensors.torch import save_file

    rank = RANKS[base]
    plain = dict(open_base(base).encoder.named_parameters())
    kept: dict[str, Any] = {}
    for name, weight in reader.encoder.named_parameters():
        change = (weight.detach() - plain[name].detach()).float().cpu()
        if not bool(change.any()):
            continue
        if change.ndim == 2 and min(change.shape) > rank:
            left, sizes, right = torch.linalg.svd(change, full_matrices=False)
            root = sizes[:rank].sqrt()
            kept[f"{name}.left"] = (left[:, :rank] * root).half().contiguous()
            kept[f"{name}.right"] = (root[:, None] * right[:rank]).half().contiguous()
        else:
            kept[name] = change.half().contiguous()
    for name, weight in reader.head.state_dict().items():
        kept[f"{HEAD}{name}"] = weight.half().contiguous()
    save_file(kept, target, metadata={_REVISION: reader.base})


def with_adapter(base: str, adapter: Path, *, device: str = "cpu") -> Reader:
    """The packaged encoder as it was trained. Raises ConfigError for a damaged file or one for other weights."""
    import torch
    from safetensors import SafetensorError, safe_open

    reader = open_base(base, device=device)
    try:
        with safe_open(adapter, framework="pt", device="cpu") as file:
            revision = (file.metadata() or {}).get(_REVISION)
            kept: Mapping[str, Any] = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ConfigError(f"{adapter} is no adapter of the cross-encoder: {error}; install Truefall again") from None
    if revision != reader.base:
        raise ModelError(f"{adapter} was trained for other weights than the packaged encoder's: install both again")
    with torch.no_grad():
        for name, weight in reader.encoder.named_parameters():
            if f"{name}.left" in kept:
                weight.add_((kept[f"{name}.left"] @ kept[f"{name}.right"]).to(device))
            elif name in kept:
                weight.add_(kept[name].to(device))
        reader.head.load_state_dict({name.removeprefix(HEAD): kept[name] for name in kept if name.startswith(HEAD)})
    reader.encoder.eval()
    return reader
