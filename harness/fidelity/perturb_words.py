"""What the generator of perturbations knows of words: its own lists, none of which the judge reads.

Everyday words alone: opposites whose exchange turns a sentence round wherever they stand, units of one kind, numbers in
words, names. Written apart from `reading/` and the word lists in `data/`.
"""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Mapping
from types import MappingProxyType

SMALL = tuple("two three four five six seven eight nine".split())  # noqa: SIM905
WORDS = (*SMALL, *"ten eleven twelve fifteen twenty thirty forty fifty sixty eighty ninety".split())  # noqa: SIM905
COUNT = rf"(?:\d[\d.,]*|\b(?:{'|'.join((*WORDS, 'one', 'hundred', 'thousand'))})\b)"
COUNT_ZH = r"(?:\d[\d.,]*|[一二两三四五六七八九十百千半几]+)[百千万亿]?"
COUNTED_ZH = (  # what a number in words stands before
    "个|天|周|年|月|日|号|小时|分钟|点|次|位|名|人|件|元|块|楼|层|折|张|间|台|岁|公里|公斤|米|升|倍|种|条|项|章|页|箱|瓶|盒|百|千|万"
)


def _both_ways(pairs: str) -> Mapping[str, str]:
    """ "one/other …" or, one way only, "one>other …"; an underscore is a space."""
    found: dict[str, str] = {}
    for pair in pairs.replace("_", " ").split("|"):
        one, way, other = re.split("([/>])", pair.strip())
        found[one] = other
        if way == "/":
            found.setdefault(other, one)
    return MappingProxyType(found)


UNITS = _both_ways(
    "seconds>minutes|minutes/hours|days/weeks|months/years|second>minute|minute/hour|day/week|month/year|kg>g|g>kg|"
    "kilograms>grams|grams>kilograms|km>m|m>km|cm>mm|mm>cm|kilometres>metres|metres>kilometres|miles>kilometres|"
    "litres>millilitres|ml>litres|USD>EUR|EUR>GBP|GBP>USD|dollars>euros|euros>dollars|pounds>euros|cents>dollars|"
    "GB>MB|MB>GB|TB>GB|percent>per_mille"
)
UNITS_ZH = _both_ways(
    "秒>分钟|分钟/小时|个小时>天|个工作日>个月|天>周|周>个月|个星期>个月|个月>年|年>个月|元>美元|美元>欧元|欧元>元|公斤>克|千克>克|"
    "克>千克|公里>米|米>厘米|厘米>米|毫升>升|升>毫升|吨>公斤|GB>MB|MB>GB"
)
NO_UNIT_ZH = MappingProxyType(  # what may not follow, for then the unit is none
    {
        "年": "级|月|底|初|代|第",
        "周": "年|岁|末|围|边",
        "天": "气",
        "米": "饭",
        "元": "旦|素|件",
        "人": "民|工|员",
        "克": "服",
        "升": "级|学",
    }
)

OPPOSITES = _both_ways(
    "always/never|usually>rarely|often>rarely|rarely>often|everyone>nobody|before/after|earlier/later|earliest/latest|"
    "early/late|inside/outside|indoors/outdoors|indoor/outdoor|above/below|higher/lower|"
    "highest/lowest|more_than/less_than|at_most/at_least|maximum/minimum|increase/decrease|increases/decreases|"
    "increased/decreased|rises/falls|rose/fell|includes/excludes|included/excluded|allowed/forbidden|permitted/prohibited|"
    "accepts/rejects|accepted/rejected|approved/denied|mandatory/optional|required>optional|compulsory>voluntary|"
    "available/unavailable|valid/invalid|online/offline|public/private|domestic/international|arrives/departs|"
    "arrival/departure|closed>open|opens/closes|begins/ends|starts>stops|buys/sells|bought/sold|imports/exports|"
    "added/removed|enabled/disabled|warm/cold|hot>cold|warmer/colder|wet/dry|sunny/rainy|cheap/expensive|"
    "cheaper>dearer|faster/slower|fast/slow|longer/shorter|larger/smaller|large/small|heavier/lighter|strong/weak|"
    "stronger/weaker|easy/difficult|safe/dangerous|older/younger|succeeded/failed|passed>failed|won>lost|profit/loss|"
    "north/south|east/west|northern/southern|morning/evening|weekdays/weekends|weekday/weekend|buyer/seller|"
    "sender/recipient|landlord/tenant|upstairs/downstairs|same>different|together>separately|"
    "correct/wrong|without>with|daily>yearly|newest/oldest|clockwise>anticlockwise"
)
OPPOSITES_ZH = _both_ways(
    "以上/以下|以内/以外|之前/之后|以前/以后|上午/下午|早上/晚上|白天/夜间|最高/最低|最多/最少|至少/至多|最早/最晚|最大/最小|最长/最短|"
    "增加/减少|上涨/下跌|提高/降低|上升/下降|开启/关闭|允许/禁止|同意/拒绝|接受>拒绝|成功/失败|有效/无效|免费/收费|必须>无需|必填/选填|"
    "强制/自愿|线上/线下|室内/室外|国内/国外|境内/境外|公开/保密|到达/出发|抵达/离开|买家/卖家|买方/卖方|甲方/乙方|收入/支出|盈利/亏损|"
    "上车/下车|东侧/西侧|南侧/北侧|左侧/右侧|左边/右边|楼上/楼下|前门/后门|男性/女性|成人/儿童|新用户/老用户|晴天/雨天|升温/降温|"
    "偏高/偏低|更快/更慢|更高/更低|更大/更小|更长/更短|更早/更晚|高于/低于|大于/小于|多于/少于|早于/晚于|超过>低于|干燥/潮湿|简单/复杂|"
    "相同>不同|全部>部分|总是/从不|经常/很少|提前/推迟|启用/停用|添加/删除|扩大/缩小|延长/缩短|领先/落后|租客/房东|寄件人/收件人|"
    "单程/往返|长期/短期|现货/缺货|正确/错误|合法/非法|加入/退出|打开/关上|入口/出口|冷藏>加热|上半年/下半年|首次>最后一次"
)

NAMES = ("Berlin", "Olsen", "Nakamura", "Toledo", "Marta", "Dundee")
NAMES_ZH = ("青岛", "长沙", "昆明", "厦门", "兰州")
PLACES_ZH = (
    "北京|上海|广州|深圳|杭州|南京|成都|武汉|西安|重庆|天津|苏州|青岛|长沙|昆明|厦门|大连|沈阳|郑州|济南|合肥|福州|宁波|无锡|东莞|佛山|"
    "哈尔滨|长春|石家庄|太原|南昌|南宁|贵阳|兰州|海口|三亚|珠海|拉萨|香港|澳门|台北|东京|首尔|新加坡|曼谷|伦敦|巴黎|纽约|悉尼"
)
TITLED_ZH = r"[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹](?:经理|老师|医生|总监|律师|教授|先生|女士|主任|师傅|工)"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip
