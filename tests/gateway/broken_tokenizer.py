"""A tokenizer file that is sound or damaged, and the fault `decode_errors` as it takes hold of a gateway with hooks."""

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from faults.component_hooks import HOOKS, Control, hook_function
from gateway.prompt import read_back


def byte_level(folder: Path, *, without: str = "", template: str = "{{ messages[0]['content'] }}") -> Path:
    """One token a byte; `without`: letters whose bytes the damaged file has no tokens for."""
    broken = {pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(one)[0][0] for one in without}
    gone = {letter for letters in broken for letter in letters}
    alphabet = [one for one in sorted(pre_tokenizers.ByteLevel.alphabet()) if one not in gone]
    tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    return folder


class DecodeErrors:
    """The real fault, in this process; `strike` sets the share of calls that it hits."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        (hook,) = [one for one in HOOKS if one.module == read_back.__name__]
        monkeypatch.setattr(read_back, hook.function, getattr(read_back, hook.function))  # put back afterwards
        self.control = Control(folder, log=lambda _: None)
        folder.mkdir()
        assert hook_function(read_back, hook, self.control)

    def strike(self, rate: float) -> None:
        switch = {"id": "f", "kind": "decode_errors", "rate": rate}
        (self.control.folder / "f.fault").write_text(json.dumps(switch))
