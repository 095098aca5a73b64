"""Chinese names of persons, where the words around them ask for one: 由张伟负责, 请联系王芳."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.lexicon import lexicon

_SURNAME = "[张李王刘陈杨赵吴徐孙朱郭罗郑谢唐韩冯邓曹彭曾肖田董袁潘蒋蔡叶魏吕沈姚卢姜崔谭廖贾韦邹孟熊秦邱尹薛阎侯陶贺顾郝龚邵钱戴林黄周何胡梁]"
_NAME = rf"(?P<name>{_SURNAME}[\u4e00-\u9fff]{{1,2}}?)"
_DOES = "负责|主持|主讲|主刀|担任|接待|带队|跟进|授课|讲课|主管|联系|对接|审批|签字|处理|来讲|值班"
_PERSONS = (
    re.compile(rf"(?:^|[，。；！？,;!?：:是])(?:现在|目前|今天|由)?{_NAME}(?={_DOES})"),
    re.compile(rf"(?:由|归|交给|请|找){_NAME}(?=来?(?:{_DOES})|[，。；！？,;!?]|$)"),
    re.compile(rf"(?:联系人?|找|负责人)(?:是|为|：|:)?{_NAME}(?=[，。；！？,;!?]|$)"),
)


def persons(plain: str) -> frozenset[str]:
    """The names of two or three characters that a text holds in such places."""
    known = lexicon("zh")
    found = (match["name"] for pattern in _PERSONS for match in pattern.finditer(plain))
    return frozenset(
        name for name in found if name[:2] not in known.words and name not in known.words and name[1] not in _TITLES
    )


_TITLES = "经总主医律老教先女小工博处局院校护师同会部董秘助顾府某"
