"""A folder with a byte-level tokenizer and a chat template that looks into tool calls and tools."""

import json
from pathlib import Path

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    "{% for key, value in c.function.arguments.items() %}{{ key }}={{ value | tojson }}{% endfor %}{% endfor %}\n"
    "{% endfor %}{% for t in tools or [] %}{{ t.function.name }}"
    "{% for key in t.function.parameters.properties or {} %}{{ key | upper }}{% endfor %}{{ t | tojson }}{% endfor %}"
    "<|assistant|>"
)


def templated_model(folder: Path) -> Path:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={sign: index for index, sign in enumerate(signs)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return folder
