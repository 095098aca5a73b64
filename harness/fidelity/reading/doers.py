"""Who does it: the party that pays, phones or sends, before the verb that says so."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from types import MappingProxyType

from harness.fidelity.reading.text import Text

_VERBS = MappingProxyType(  # what the verb is counted as -> its forms
    {
        "pay": "pays?|paid|covers?|bears?|foots?|meets?(?= the cost)|settles?(?= the (?:bill|cost|fee))|picks? up(?= the (?:bill|tab|cost))",
        "phone": "phones?|calls?|rings?|telephones?",
        "contact": "contacts?|writes? to|e-?mails?|notif(?:y|ies)|informs?|messages?",
        "give": "gives?|hands?|provides?|supplies|supply",
        "send": "sends?|posts?|mails?|ships?",
        "fetch": "collects?|picks? up|fetch(?:es)?",
        "arrange": "arranges?|organi[sz]es?|books?",
        "return": "brings? back|sends? back|gives? back",
        "refund": "refunds?|reimburses?|repays?",
        "sign": "signs?|countersigns?",
        "repair": "repairs?|fix(?:es)?|replaces?",
        "clean": "cleans?|tid(?:y|ies)",
    }
)
_WHO = r"(?P<who>we|you|i|he|she|they|[a-z]{3,}(?:'s (?:company|insurer))?)"
_DUTY = r"(?: (?:must|has to|have to|will|shall|should|is to|are to|needs? to|to|may|can|always|normally|usually|only|also|then|already|would|himself|herself|themselves|yourself|ourselves))*"
_EN = re.compile(
    rf"\b{_WHO}{_DUTY} (?:{'|'.join(f'(?P<{name}>{forms})' for name, forms in _VERBS.items())})\b(?! (?:nothing|no|zero|only|by)\b)",
    re.IGNORECASE,
)
_NOBODY = frozenset(
    [
        "and",
        "or",
        "but",
        "not",
        "who",
        "which",
        "that",
        "this",
        "the",
        "must",
        "has",
        "have",
        "will",
        "shall",
        "should",
        "needs",
        "need",
        "only",
        "also",
        "then",
        "may",
        "can",
        "would",
        "could",
        "please",
        "never",
        "be",
        "is",
        "are",
        "was",
        "were",
        "it",
        "to",
        "for",
        "with",
        "of",
        "in",
        "on",
        "at",
        "by",
        "from",
        "if",
        "when",
        "unless",
        "there",
        "all",
        "any",
        "some",
        "each",
        "every",
        "how",
        "what",
        "where",
        "why",
        "than",
        "cost",
        "fee",
        "price",
        "charge",
        "policy",
        "insurance",
        "warranty",
        "ticket",
        "card",
        "rent",
        "contract",
        "plan",
        "package",
        "deposit",
        "phone",
        "please",
        "always",
        "does",
        "did",
    ]
)
_PRONOUNS = frozenset(["we", "you", "i", "he", "she", "they"])
_PURPOSE = re.compile(
    r"(?<!has)(?<!have)(?<!is)(?<!are)(?<!need)(?<!needs) to "
)  # "a receipt to return it" names nobody
_PARTY_ZH = (
    r"(?P<us>我们|我方|本店|本公司|公司|商家|卖家|卖方|房东|物业|平台|店家|甲方|厂家|出租方|商场|酒店|学校|保险公司)"
    r"|(?P<you>[您你](?!们的)|买家|买方|租客|住户|客户|用户|顾客|业主|乙方|租户|住客|承租人|消费者|乘客|旅客|家长|学生|个人|自己)"
)
_BESIDE = re.compile(  # "every visitor to the museum pays": not the museum
    r"\b(?:to|of|in|at|from|for|on|with|near|under|behind) (?:the |a |an |our |your |their |his |her |its )?$"
)
_ZH = re.compile(
    rf"(?:由|归|请|让)?(?:{_PARTY_ZH})(?:自己|自行|来|全部|全额|全|要|须|必须|得|需要?|应当?|负责|方|会|将|先|另|主动|给(?:您|你|我们|对方|师傅|工程师))*"
    r"(?:(?P<pay>承担|支付|负担|出(?=钱|资|$|[,，。;；])|付(?!款方式)|掏|买单|出钱)|(?P<phone>打电话|致电|来电|去电|拨打)|(?P<contact>联系|通知|告知))"
)


def doers(text: Text) -> Iterator[tuple[str, str]]:
    """(what is done, who does it): "pay", "seller"; in Chinese the side that does it, "us" or "you"."""
    if text.lang == "zh":
        for match in _ZH.finditer(text.plain):
            yield next(n for n in ("pay", "phone", "contact") if match[n]), "us" if match["us"] else "you"
        return
    low = text.plain.lower()
    for match in _EN.finditer(low):
        if match["who"] not in _PRONOUNS and _BESIDE.search(low[: match.start()]):
            continue
        if match["who"] not in _NOBODY and (match["who"] in _PRONOUNS or not _PURPOSE.search(match[0])):
            yield next(name for name in _VERBS if match[name]), match["who"]
