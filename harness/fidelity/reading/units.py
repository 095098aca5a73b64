"""Units of quantities: what they measure, and how many base units they are."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from types import MappingProxyType
from typing import NamedTuple

from harness.fidelity.reading.fact import Kind


class Unit(NamedTuple):
    kind: Kind
    base: str
    factor: float


def _table(rows: dict[tuple[Kind, str, float], str]) -> dict[str, Unit]:
    return {name: Unit(*unit) for unit, names in rows.items() for name in names.split()}


D, M = Kind.DURATION, Kind.MEASURE
ENGLISH = MappingProxyType(
    _table(
        {
            (D, "s", 0.001): "ms millisecond milliseconds",
            (D, "s", 1.0): "s sec secs second seconds",
            (D, "s", 60.0): "min mins minute minutes",
            (D, "s", 3600.0): "h hr hrs hour hours",
            (D, "s", 86400.0): "day days night nights",
            (D, "workday", 1.0): "workday workdays",
            (D, "s", 604800.0): "week weeks wk wks",
            (D, "s", 1209600.0): "fortnight fortnights",
            (D, "month", 1.0): "month months",
            (D, "month", 3.0): "quarters",
            (D, "month", 12.0): "year years yr yrs",
            (D, "month", 120.0): "decade decades",
            (M, "g", 0.001): "mg milligram milligrams",
            (M, "g", 1.0): "g gram grams",
            (M, "g", 1000.0): "kg kgs kilo kilos kilogram kilograms",
            (M, "g", 453.592): "lb lbs pound-weight",
            (M, "g", 28.3495): "oz ounce ounces",
            (M, "g", 1e6): "tonne tonnes ton tons",
            (M, "m", 0.001): "mm millimetre millimetres millimeter millimeters",
            (M, "m", 0.01): "cm centimetre centimetres centimeter centimeters",
            (M, "m", 0.0254): "inch inches",
            (M, "m", 0.3048): "ft foot feet",
            (M, "m", 1.0): "m metre metres meter meters",
            (M, "m", 1000.0): "km kilometre kilometres kilometer kilometers",
            (M, "m", 1609.344): "mile miles",
            (M, "km/h", 1.0): "km/h kph kmh",
            (M, "km/h", 1.609344): "mph",
            (M, "km/h", 3.6): "m/s metres-per-second meters-per-second",
            (M, "l", 0.001): "ml millilitre millilitres milliliter milliliters",
            (M, "l", 1.0): "l litre litres liter liters",
            (M, "B", 1e3): "kb",
            (M, "B", 1e6): "mb megabyte megabytes",
            (M, "B", 1e9): "gb gigabyte gigabytes gig gigs",
            (M, "B", 1e12): "tb terabyte terabytes",
            (M, "bit/s", 1e6): "mbps",
            (M, "bit/s", 1e9): "gbps",
            (M, "degree", 1.0): "°c ° degrees degree celsius degrees-celsius degree-celsius degrees-c",
            (M, "W", 1.0): "w watt watts",
            (M, "W", 1000.0): "kw kilowatt kilowatts",
            (M, "Wh", 1000.0): "kwh kilowatt-hour kilowatt-hours kilowatthour kilowatthours",
            (M, "Ah", 0.001): "mah",
            (M, "V", 1.0): "v volt volts",
            (M, "Hz", 1e6): "mhz",
            (M, "Hz", 1e9): "ghz",
            (M, "kcal", 1.0): "kcal calories calorie",
            (M, "m2", 1.0): "sqm m2 m² square-metres square-meters square-metre square-meter sq-m",
            (M, "m2", 0.09290304): "sqft sq-ft square-feet square-foot",
            (M, "m2", 4046.856): "acre acres",
            (M, "m2", 1e4): "hectare hectares ha",
            (M, "m2", 1e6): "km2 km² square-kilometres square-kilometers square-kilometre square-kilometer sq-km",
            (M, "m2", 2589988.0): "square-miles square-mile",
            (M, "m3", 1.0): "cubic-metres cubic-meters cubic-metre cubic-meter",
            (M, "m", 0.9144): "yard yards yd yds",
            (M, "m", 1852.0): "nmi",
            (M, "l", 3.785412): "gallon gallons gal",
            (M, "l", 0.4731765): "pint pints",
            (M, "l", 0.01): "cl",
            (M, "l", 0.2365882): "cups",
            (M, "l", 0.01478676): "tablespoon tablespoons tbsp",
            (M, "l", 0.004928922): "teaspoon teaspoons tsp",
            (M, "g", 6350.293): "stone",
            (M, "fahrenheit", 1.0): "°f fahrenheit degrees-fahrenheit degree-fahrenheit degrees-f",
            (M, "Pa", 1e5): "bar",
            (M, "Pa", 6894.757): "psi",
            (M, "Pa", 1000.0): "kpa",
            (M, "J", 1000.0): "kj",
            (M, "dB", 1.0): "db decibel decibels",
            (M, "Hz", 1.0): "hz",
            (M, "Hz", 1e3): "khz",
            (M, "W", 1e6): "mw megawatt megawatts",
            (M, "Wh", 1e6): "mwh megawatt-hour megawatt-hours",
            (M, "B", 1.0): "byte bytes",
            (M, "bit/s", 1e3): "kbps",
            (M, "px", 1.0): "px pixel pixels",
            (M, "point", 1.0): "point points pts",
            (M, "times", 1.0): "x times fold",
        }
    )
)
CHINESE = MappingProxyType(
    _table(
        {
            (D, "s", 0.001): "毫秒",
            (D, "s", 1.0): "秒 秒钟",
            (D, "s", 60.0): "分钟",
            (D, "s", 900.0): "刻钟",
            (D, "s", 3600.0): "小时 个小时 钟头 个钟头",
            (D, "s", 86400.0): "天 日 晚 个晚上 自然日 个自然日",
            (D, "workday", 1.0): "工作日 个工作日",
            (D, "s", 604800.0): "周 星期 个星期 礼拜 个礼拜",
            (D, "month", 1.0): "个月 月",
            (D, "month", 3.0): "个季度",
            (D, "month", 12.0): "年 周年",
            (M, "g", 0.001): "毫克",
            (M, "g", 1.0): "克 g",
            (M, "g", 500.0): "斤",
            (M, "g", 1000.0): "公斤 千克 kg",
            (M, "g", 1e6): "吨",
            (M, "m", 0.001): "毫米 mm",
            (M, "m", 0.01): "厘米 公分 cm",
            (M, "m", 1.0): "米 m",
            (M, "m", 500.0): "里",
            (M, "m", 1000.0): "公里 千米 km",
            (M, "l", 0.001): "毫升 ml",
            (M, "l", 1.0): "升 l",
            (M, "B", 1e6): "MB M 兆",
            (M, "B", 1e9): "GB G",
            (M, "B", 1e12): "TB T",
            (M, "degree", 1.0): "度 摄氏度 °C ℃",
            (M, "W", 1.0): "瓦 W",
            (M, "W", 1000.0): "千瓦 kW",
            (M, "Ah", 0.001): "毫安 mAh",
            (M, "m2", 1.0): "平方米 平米 平方",
            (M, "m2", 666.6667): "亩",
            (M, "m2", 1e4): "公顷",
            (M, "m2", 1e6): "平方公里 平方千米",
            (M, "m3", 1.0): "立方米 立方",
            (M, "m", 1852.0): "海里",
            (M, "m", 0.0333333): "寸",
            (M, "m", 0.333333): "尺",
            (M, "m", 1609.344): "英里",
            (M, "m", 0.0254): "英寸",
            (M, "g", 453.592): "磅",
            (M, "fahrenheit", 1.0): "华氏度 °F ℉",
            (M, "km/h", 1.0): "公里每小时 km/h",
            (M, "km/h", 1.609344): "英里每小时 mph",
            (M, "bit/s", 1e6): "Mbps",
            (M, "bit/s", 1e9): "Gbps",
            (M, "dB", 1.0): "分贝",
            (M, "Wh", 1000.0): "千瓦时 度电",
            (M, "V", 1.0): "伏 V",
            (M, "Hz", 1.0): "赫兹",
            (M, "B", 1e3): "KB",
            (M, "times", 1.0): "倍",
            (M, "year old", 1.0): "岁 周岁",
            (M, "point", 1.0): "积分",
        }
    )
)
CURRENCIES = MappingProxyType(
    {
        "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "美元": "USD",
        "美金": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR", "£": "GBP", "gbp": "GBP",
        "pounds": "GBP", "pound": "GBP", "quid": "GBP", "英镑": "GBP", "¥": "CNY", "cny": "CNY", "rmb": "CNY",
        "yuan": "CNY", "元": "CNY", "块": "CNY", "块钱": "CNY", "元钱": "CNY", "圆": "CNY", "元人民币": "CNY",
        "人民币": "CNY", "jpy": "JPY", "yen": "JPY", "日元": "JPY", "hkd": "HKD", "hk$": "HKD", "港币": "HKD",
        "港元": "HKD", "chf": "CHF", "francs": "CHF", "swissfrancs": "CHF", "canadiandollars": "CAD", "australiandollars": "AUD", "swissfranc": "CHF", "aud": "AUD", "a$": "AUD", "cad": "CAD", "c$": "CAD", "inr": "INR",
        "rupees": "INR", "₹": "INR", "krw": "KRW", "won": "KRW", "韩元": "KRW", "sgd": "SGD", "cents": "USDc",
        "kroner": "KR", "krone": "KR", "kronor": "KR", "krona": "KR", "克朗": "KR", "zloty": "PLN", "zlotys": "PLN", "兹罗提": "PLN",
        "forint": "HUF", "forints": "HUF", "福林": "HUF", "roubles": "RUB", "rubles": "RUB", "卢布": "RUB", "baht": "THB", "泰铢": "THB",
        "pesos": "PESO", "比索": "PESO", "ringgit": "MYR", "林吉特": "MYR", "shekels": "ILS", "dirhams": "DIRHAM",
        "cent": "USDc", "pence": "GBPc", "角": "CNY1", "毛": "CNY1",
    }
)  # fmt: skip
COUNTERS = "号个件位名人台份张条次页本辆间层楼架瓶盒粒片杯项笔门节场轮批套部款支支排家所座封只头匹颗棵双对组队步级期户栋桌种回箱袋包道段句字行列词篇章"
