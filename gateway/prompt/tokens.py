"""How many tokens a prompt takes: by the model's own tokenizer and chat template, or by a careful estimate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gateway.errors import ConfigError
from gateway.prompt.chat_template import ChatTemplate, content_text, find_template, read_json, special_tokens
from gateway.prompt.pieces import PieceCounts, counts_by_pieces
from gateway.prompt.read_back import Back, read_back

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Message = Mapping[str, Any]
_ROLE_TOKENS = 8  # what a role, its markers and line breaks take per message where no template says


class Counter(Protocol):
    """What truncation and compression need to know about tokens."""

    def count_text(self, text: str) -> int:
        """Tokens of a bare text, without special tokens."""
        ...

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        """`count_text` of each, in one go."""
        ...

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        """Tokens of the whole prompt, generation prompt included."""
        ...

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        """Never fewer than `count_messages`, without tokenising."""
        ...


class TokenCounter:
    """Counts with a model folder's `tokenizer.json` and chat template, exactly as the backend does."""

    def __init__(
        self,
        tokenizer: "Tokenizer",
        template: ChatTemplate | None,
        *,
        byte_level: bool,
        by_pieces: bool = False,
        unknown: int | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._byte_level = byte_level
        self._pieces = PieceCounts(self) if by_pieces else None
        self._unknown = unknown  # the token for what has none

    @classmethod
    def load(cls, model_dir: Path) -> "TokenCounter":
        """Read a model folder; raises ConfigError when it holds no usable `tokenizer.json`."""
        from tokenizers import Tokenizer

        file = model_dir / "tokenizer.json"
        if not file.is_file():
            raise ConfigError(
                f"{file}: there is no such file, or it is a folder; name a folder with the model's tokenizer.json"
            )
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # tokenizers raises bare Exception
            raise ConfigError(f"{file}: not a tokenizer: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        source = find_template(model_dir)
        template = None
        if source is not None:
            template = ChatTemplate(source, special_tokens=special_tokens(model_dir), where=str(model_dir))
        declared = read_json(file)
        unknown = _unknown_token(declared, tokenizer)
        return cls(
            tokenizer,
            template,
            byte_level=_never_more_tokens_than_bytes(declared),
            by_pieces=counts_by_pieces(declared),
            unknown=unknown,
        )

    @property
    def has_template(self) -> bool:
        return self._template is not None

    def render(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> str:
        """The prompt's text; without a chat template the contents, one per line, after their roles."""
        if self._template is not None:
            return self._template.render(messages, tools=tools)
        return "".join(f"{message['role']}: {content_text(message)}\n" for message in messages)

    def count_text(self, text: str) -> int:
        return self._pieces(text) if self._pieces is not None else self.count_texts([text])[0]

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        # Not `encode`, not even for one: that keeps every other thread waiting, the event loop's too, until it is done.
        return [len(one) for one in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def count_word(self, text: str) -> int:
        """`count_text` of a few characters: a batch of one takes half as long again, and one of two wakes threads."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def starts(self, text: str) -> list[int]:
        """Where each token of the text starts, in characters."""
        (encoded,) = self._tokenizer.encode_batch([text], add_special_tokens=False)  # the fast one knows no places
        return [start for start, _ in encoded.offsets]

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self.count_text(self.render(messages, tools=tools))

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self.upper_bound_of(self.render(messages, tools=tools))

    def upper_bound_of(self, text: str) -> int:
        """The same for a prompt's text."""
        return len(text.encode("utf-8", "surrogatepass")) if self._byte_level else self.count_text(text)

    def read_back(self, text: str) -> Back:
        """What is left of a text after its way to tokens and back."""
        return read_back(self._tokenizer, text, unknown=self._unknown)


class CharCounter:
    """A careful estimate where no tokenizer is configured.

    A token per started run of three ASCII letters or digits, and one for each other character: more than any
    tokenizer in use takes for English or Chinese, so what fits by this count fits.
    """

    has_template = False

    def count_text(self, text: str) -> int:
        return _estimate(text)

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        return [_estimate(text) for text in texts]

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        contents = sum(_estimate(content_text(message)) for message in messages)
        calls = sum(_estimate(repr(message["tool_calls"])) for message in messages if message.get("tool_calls"))
        described = _estimate(repr(tools)) if tools else 0
        return contents + calls + described + _ROLE_TOKENS * (len(messages) + 1)

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self.count_messages(messages, tools=tools)


class WithTools:
    """Another counter, for a request whose `tools` are part of the prompt."""

    def __init__(self, counter: Counter, tools: Sequence[Message]) -> None:
        self._counter = counter
        self._tools = tools

    def count_text(self, text: str) -> int:
        return self._counter.count_text(text)

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        return self._counter.count_texts(texts)

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self._counter.count_messages(messages, tools=tools or self._tools)

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self._counter.upper_bound(messages, tools=tools or self._tools)


def _estimate(text: str) -> int:
    ascii_bytes = len(text.encode("ascii", "ignore"))
    others = len(text) - ascii_bytes
    return -(-ascii_bytes // 3) + 2 * others


def _never_more_tokens_than_bytes(tokenizer: Mapping[str, Any]) -> bool:
    """Whether one token stands for one byte at least: byte-level BPE, or BPE with byte fallback, that only shortens."""
    model = tokenizer.get("model") or {}
    if model.get("type") != "BPE":
        return False
    steps = [tokenizer.get("pre_tokenizer") or {}, tokenizer.get("normalizer") or {}]
    kinds = {str(part.get("type")) for step in steps for part in (step, *_parts(step))}
    return not (kinds & {"Prepend", "NFKC", "NFKD", "NFD", "Metaspace"}) and (
        "ByteLevel" in kinds or bool(model.get("byte_fallback"))
    )


def _unknown_token(declared: Mapping[str, Any], tokenizer: "Tokenizer") -> int | None:
    """None where the tokenizer has none: it then drops what it does not know, or has bytes for everything."""
    model = declared.get("model") or {}
    name = model.get("unk_token")
    found = tokenizer.token_to_id(name) if isinstance(name, str) else model.get("unk_id")
    return found if isinstance(found, int) else None


def _parts(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(step.get("pretokenizers") or step.get("normalizers") or [])
