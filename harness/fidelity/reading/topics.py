"""What a clause only names as what was asked: "your question about X", "you asked whether X", 您问的…问题. It states nothing."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

_NOUN = r"(?:questions?|quer(?:y|ies)|enquir(?:y|ies)|inquir(?:y|ies)|messages?|concerns?|requests?(?= (?:about|regarding|concerning|as to|for (?:information|details|help|advice|clarification|an answer))\b)|(?:tickets?|cases?)(?: [\w#-]*\d[\w-]*)?(?= (?:about|regarding|concerning)\b))"
_ENDS = (  # what follows a topic: the end of the clause, or what is done with the question
    r"(?=\s*(?:$|[.!?;:,]|(?<![\w-])(?:has|have|had|is|was|are|were|will|can|could|would|shall|may|might|must|needs?|to (?:an?|the|our|my|one|some\w*|hr|it|sales|billing|support|customer)\b|on to|over to|along|through to"
    r"|with (?:an?|our|my|the)\b|in (?:our|my|the) (?:queue|list|inbox)|and|but|so|at (?:the|this) moment|right now|yet|just now|today|myself)\b))"
)
_TOPICS = (
    (
        re.compile(
            rf"(?P<noun>\b{_NOUN}),?\s+(?:about|regarding|concerning|on|as to|of|for|over|around|relating to|in regard to|with regard to|whether|how|what|when|where|why|who|which|if)\b[^.!?;:]*?{_ENDS}",
            re.IGNORECASE,
        ),
        r"\g<noun>",
    ),
    (
        re.compile(
            r"\b(?P<whose>your|this|the) (?:(?!(?:your|has|have|had|got|is|was|are|took|to|with|in|of|on|for)\b)[\w'-]+ ){1,4}?(?P<noun>questions?|query|enquiry|inquiry)\b",
            re.IGNORECASE,
        ),
        r"\g<whose> \g<noun>",
    ),
    (
        re.compile(
            r"(?P<ask>\b(?:ask|check with|contact|consult|speak (?:to|with)|talk to|call|ring)\b[^.!?;:,]{1,30}?) about\b[^.!?;:,]*",
            re.IGNORECASE,
        ),
        r"\g<ask>",
    ),
    (re.compile(r"\b[nN]o\.\s*(?=#?[\w-]*\d)"), "number "),
)
_TOPICS_ZH = (
    re.compile(
        r"(?:[您你](?:所|刚才|刚刚|刚|之前)?|(?<![\u4e00-\u9fff]))(?:问|咨询|询问|提|提出|反映|想了解|想问|关心)(?:到)?的[^，。；,;!！?？]{1,20}?(?:问题|事宜|事情|事项|一事|疑问)"
    ),
    re.compile(r"(?:关于|有关|就|对于|针对)[^，。；,;!！?？]{1,20}?(?:问题|咨询|疑问|提问|事宜|询问|一事)"),
    re.compile(
        r"^[^，。；,;!！?？]{1,14}?(?:的|这个|这一|那个)问题(?=[，,]?(?:我|已|请|帮|由|正|会|将|得|需|麻烦|暂|目前|要|稍|您|只能))"
    ),
    re.compile(r"[您你]的[^，。；,;!！?？的]{1,12}?(?:咨询|提问|疑问)"),
    re.compile(r"^[^，。；,;!！?？]{1,12}的事(?:情|儿|宜)?(?=[，,]?(?:麻烦|请|还请|劳烦|您|得|我|暂|目前|只能|稍|晚))"),
    re.compile(r"[您你](?:的)?(?:关于|有关|对于|针对)[^，。；,;!！?？]{1,20}?(?:问题|咨询|疑问|提问|事宜|询问|一事)"),
)
_RESTATED = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|right|well|then|(?:if|as) (?:far as )?i (?:\w+ )?understand(?: it| you)?(?: \w+ly)?|i (?:see|understand|gather|take it|know|note|notice)(?: that)?|it (?:looks|seems|sounds)(?: like| as if| as though)?)[\s,]+)*"
    r"(?:you(?:'re| are| were| have| had| would|'d|'ve)?(?: (?:\w+ly|been|just|also|now|here))* "
    r"(?:ask(?:ed|ing)?(?! (?:us|me|for (?!information|details|help|advice))\b)|wonder(?:ed|ing)?|(?:want|wanted|wanting|like|liked|wish|wished|need|needed|trying|hoping) to (?:know|find out|learn|hear|check|ask)|enquir\w+|inquir\w+|curious|interested to know)\b"
    r"|(?:your|the) (?:question|query|enquiry|inquiry) (?:is|was|concern(?:s|ed)|relate[sd] to|asks?|being)\b(?! (?:\w+ )?(?:not|un\w+|being|in|with|on|handed|passed|answered|forwarded|noted|logged)\b))"
    r"|^\W*(?:所以|那么|看来|我(?:明白|理解|知道)(?:了)?)?[,，]?[您你](?:是|刚才|刚刚|刚|这是)?(?:想(?:要)?(?:知道|了解|问|咨询|确认|查询?|打听)|问(?!的|题)|在问|的问题是|的意思是|要问|询问(?!的)|咨询(?!的))",
    re.IGNORECASE,
)
_NAMED_ZH = re.compile(
    r"^\W*[您你](?:所|刚才|刚刚|刚|之前)?(?:想问|问|咨询|询问|提到|说|想了解|想知道|关心)的[^，。；,;已不没是在需可能会有了被为得应]{1,16}[，,]$"
)


_MERELY = re.compile(
    r"^\W*(?:您好\W*)?(?:您的问题)+\W*$|^\W*your (?:question|query|enquiry|inquiry)\W*$", re.IGNORECASE
)


def bare(clause: str) -> str:
    """The clause without the topics of the questions that it names."""
    for pattern, instead in _TOPICS:
        clause = pattern.sub(instead, clause)
    for pattern in () if clause.isascii() else _TOPICS_ZH:
        clause = pattern.sub("您的问题", clause)
    return clause


def restated(clause: str) -> bool:
    """Whether the clause only says what was asked."""
    return bool(_MERELY.match(clause) or _RESTATED.search(clause) or _NAMED_ZH.match(clause))
