"""Which other script than Latin letters and Chinese characters a text is written in: kana, Cyrillic, Arabic, …"""

import re
from typing import NamedTuple


class Script(NamedTuple):
    name: str
    letters: re.Pattern[str]
    run: re.Pattern[str]  # words of it in a row, more than a name has


def _spaced(name: str, chars: str) -> Script:
    return Script(name, re.compile(f"[{chars}]"), re.compile(rf"[{chars}]+(?:[\s,;:'’\"«»()-]+[{chars}]+){{2,}}"))


_SCRIPTS = (
    _spaced("Cyrillic letters", "\u0400-\u052f"),
    _spaced("Greek letters", "\u0370-\u03ff\u1f00-\u1fff"),
    _spaced("Hebrew letters", "\u0590-\u05ff"),
    _spaced("Arabic letters", "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff"),
    _spaced("Devanagari", "\u0900-\u097f"),
    _spaced("Korean", "\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"),
    Script("Thai", re.compile("[\u0e00-\u0e7f]"), re.compile("[\u0e00-\u0e7f]{15,}")),
)
_LETTER = re.compile(r"[^\W\d_]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\uff66-\uff9f]")
_JAPANESE = re.compile(  # endings of sentences, and particles behind a noun: what a name in kana does not hold
    "(?:です|ます|ました|ません|ましょう|でした|ください|下さい|でしょう|である|できる|している|されて)(?:か|が|ので|から|よ|ね)?(?![\u3041-\u3096])"
    "|(?<=[\u4e00-\u9fff\u30a1-\u30fa\u30fcA-Za-z0-9])(?:を|は|が|に|で|へ|から|まで)(?=[\u3041-\u3096\u4e00-\u9fff\u30a1-\u30fa])"
)
_KOREAN = re.compile("(?:니다|세요|어요|아요|에요|예요)(?=[\\s.!?。]|$)")
_GLOSS = re.compile(
    r"[（(][^()（）]*[)）]|[“「『\"][^“”「」『』\"]*[”」』\"]"
)  # a name or a saying given in its own letters
NAMED = 0.4  # share of the letters from which words in a row are no name any more


def other_script(text: str) -> str:
    """The language or the letters of a text, or of a long part of it; "" for Latin letters, Chinese and mere names."""
    if text.isascii():
        return ""
    bare = _GLOSS.sub(" ", text)
    text = bare if _LETTER.search(bare) else text
    if _KANA.search(text) and _JAPANESE.search(text):
        return "Japanese"
    if _KOREAN.search(text):
        return "Korean"
    letters = len(_LETTER.findall(text))
    for script in _SCRIPTS:
        count = len(script.letters.findall(text))
        if count and (count >= letters or (count >= NAMED * letters and script.run.search(text))):
            return script.name
    kana = len(_KANA.findall(text))
    return "Japanese" if kana and kana >= letters else ""
