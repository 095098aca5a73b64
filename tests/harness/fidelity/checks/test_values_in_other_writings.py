"""One value in two writings is one value, and the like of it is not: numbers, units, codes, dates, zones, names."""

import pytest
from fidelity_judging import complaints

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import read

CHECKS = ("numbers", "moments", "identifiers", "names", "substitution", "antonyms", "negation")

VALUES = [
    ("The deposit is 4 750 EUR.", Kind.MONEY, 4750.0),
    ("The deposit is 4\u00a0750 EUR.", Kind.MONEY, 4750.0),
    ("The deposit is €4\u2009750.", Kind.MONEY, 4750.0),
    ("The deposit is 4.750,25 EUR.", Kind.MONEY, 4750.25),
    ("The deposit is 74,25 EUR.", Kind.MONEY, 74.25),
    ("The villa costs CHF 1'450'000.", Kind.MONEY, 1_450_000.0),
    ("The villa costs 1.450.000 euros.", Kind.MONEY, 1_450_000.0),
    ("The villa costs ₹14,50,000.", Kind.MONEY, 1_450_000.0),
    ("The nap took 3¼ hours.", Kind.DURATION, 11_700.0),
    ("The nap took 1 3/4 hours.", Kind.DURATION, 6_300.0),
    ("Take ½ ml.", Kind.MEASURE, 0.0005),
    ("Donate 1/4 of the sum.", Kind.PERCENT, 25.0),
    ("The queue took 2h 5min.", Kind.DURATION, 7_500.0),
    ("The lease runs 3 years and 2 months.", Kind.DURATION, 38.0),
    ("The shelf is 6 ft 2 in high.", Kind.MEASURE, 1.8796),
    ("Trams do 70 kilometres per hour.", Kind.MEASURE, 70.0),
    ("The line has 2 Gbit/s.", Kind.MEASURE, 2e9),
    ("The hall has 40 m².", Kind.MEASURE, 40.0),
    ("The badge costs 65p.", Kind.MONEY, 0.65),
    ("The account is overdrawn by 12.40 EUR.", Kind.MONEY, -12.4),
    ("Store it at 20 degrees below zero.", Kind.MEASURE, -20.0),
    ("The fee falls by half a percent.", Kind.PERCENT, 0.5),
    ("价格47元8角。", Kind.MONEY, 47.8),
    ("余额2万6。", Kind.NUMBER, 26_000.0),
    ("押金柒佰元整。", Kind.MONEY, 700.0),
    ("车程2小时10分。", Kind.DURATION, 7_800.0),
    ("课桌高1米25。", Kind.MEASURE, 1.25),
    ("限速80公里/小时。", Kind.MEASURE, 80.0),
    ("衣服打对折。", Kind.PERCENT, 50.0),
    ("按原价的70%出售。", Kind.PERCENT, 30.0),
]
SAME = [
    ("The penalty is 2,640 USD.", "The penalty is 2 640 USD."),
    ("The loan has 3.75% p.a.", "The loan has 3.75% per year."),
    ("Storage costs 15 EUR/month.", "Storage costs 15 EUR per month."),
    ("The suitcase weighs 8 lb.", "The suitcase weighs eight pounds."),
    ("You pay 70% of the price.", "You get 30% off the price."),
    ("The savings rate: interest of 2.5% p.a.", "The savings rate: annual interest rate of 2.5%."),
    ("租金40元/天。", "租金每天40元。"),
    ("卡号后四位是7731。", "卡的尾号是7731。"),
    ("手机号最后四位是7731。", "手机尾号为7731。"),
    ("每半年保养一次。", "每年保养两次。"),
    ("Ring +44 20 7946 0018.", "Ring +44 (20) 7946-0018."),
    ("The account is NL91 ABNA 0417 1643 00.", "The account is NL91ABNA0417164300."),
    ("The card is 5105 1051 0510 5100.", "The card is 5105-1051-0510-5100."),
    ("Install version 3.14.2.", "Install v3.14.2."),
    ("Parcel B-7782 is here.", "Parcel B7782 is here."),
    ("请拨打021-55667788。", "请拨打（021）55667788。"),
    ("请安装3.14.2版。", "请安装v3.14.2版。"),
    ("The course starts on 7 April 2026.", "The course starts on 07.04.2026."),
    ("The course starts on 7 April 2026.", "The course starts on 7-Apr-2026."),
    ("The offer ends on 31 December.", "The offer ends on the last day of the year."),
    ("活动到12月31日为止。", "活动到全年最后一天为止。"),
    ("课程于2026年4月7日开始。", "课程于07.04.2026开始。"),
    ("The call starts at 09:30 UTC.", "The call starts at 09:30 GMT."),
    ("The call starts at 09:30 UTC.", "The call starts at 10:30 am CET."),
    ("The call starts at 11:00 UTC+2.", "The call starts at 9 am UTC."),
    ("北京时间15:00直播。", "UTC 7:00直播。"),
    ("The plan covers July to September.", "The plan covers the third quarter."),
    ("计划覆盖7-9月。", "计划覆盖第三季度。"),
    ("The desk is staffed Monday to Sunday.", "The desk is staffed every day."),
    ("柜台周一至周日有人。", "柜台每天有人。"),
    ("The plumber comes the day after tomorrow.", "The plumber comes in two days."),
    ("Ask Petra Novak about keys.", "Ask Ms Novak about keys."),
    ("Dr. Petra Novak sees you.", "Dr Novak sees you."),
    ("Parcels go to the United States.", "Parcels go to the USA."),
    ("The number plate is KX19 FTR.", "The number plate is KX19FTR."),
    ("Ticket no. 8812 is closed.", "Ticket #8812 is closed."),
    ("Ring ext. 5521.", "Ring extension 5521."),
    ("The gate shuts at 2145 hrs.", "The gate shuts at 21:45."),
    ("It cost 3,7 million euros.", "It cost 3.7 million euros."),
    ("Fees are due semi-annually.", "Fees are due twice a year."),
    ("请拨打+86 139 1234 5678。", "请拨打13912345678。"),
    ("每半个月清洗一次。", "每月清洗两次。"),
    ("Parcels go to the United Kingdom.", "Parcels go to the UK."),
    ("The remote's battery is flat.", "The remote's battery is empty."),
    ("Four of the six printers are working.", "Two of the six printers are out of order."),
    ("六台打印机中有四台正常。", "六台打印机中有两台故障。"),
]
OTHER = [
    ("The penalty is 2,640 USD.", "The penalty is 2 460 USD."),
    ("The penalty is 1.299 EUR.", "The penalty is 1,299.50 EUR."),
    ("The loan has 3.75% p.a.", "The loan has 3.75% per month."),
    ("The nap took 1¼ hours.", "The nap took 1½ hours."),
    ("The queue took 2h 5min.", "The queue took 2h 50min."),
    ("The line has 200 Mbit/s.", "The line has 200 MB/s."),
    ("Trams do 70 km/h.", "Trams do 70 mph."),
    ("The badge costs £65.", "The badge costs 65p."),
    ("The suitcase weighs 8 lb.", "The suitcase weighs nine pounds."),
    ("You pay 70% of the price.", "You get 70% off the price."),
    ("Your balance is -12.40 EUR.", "You are in credit by 12.40 EUR."),
    ("商品打八折。", "商品打八五折。"),
    ("价格47元8角。", "价格47元3角。"),
    ("月薪2万6。", "月薪20006元。"),
    ("每半年保养一次。", "每年保养四次。"),
    ("押金柒佰元整。", "押金玖佰元整。"),
    ("Ring +44 20 7946 0018.", "Ring +44 (20) 7946-0081."),
    ("The account is NL91 ABNA 0417 1643 00.", "The account is NL91ABNA0417164330."),
    ("Install version 2.10.1.", "Install v2.1.01."),
    ("Parcel B-7782 is here.", "Parcel D7782 is here."),
    ("The course starts on 5 March 2026.", "The course starts on 03.05.2026."),
    ("The course starts on 5 March.", "The course starts on 3 May."),
    ("The offer ends on 31 December.", "The offer ends on the first day of the year."),
    ("The call starts at 3 pm CET.", "The call starts at 3 pm UTC."),
    ("The call starts at 09:30 UTC.", "The call starts at 11:30 am CET."),
    ("北京时间15:00直播。", "UTC 15:00直播。"),
    ("The plan covers July to October.", "The plan covers the third quarter."),
    ("The launch moves from July to September.", "The launch is in the third quarter."),
    ("计划覆盖7-9月。", "计划覆盖第二季度。"),
    ("The desk is staffed Monday to Friday.", "The desk is staffed every day."),
    ("The plumber comes the day after tomorrow.", "The plumber comes in three days."),
    ("Ask Mr Gonzalez about keys.", "Ask Ms Gonzales-Ruiz about keys."),
    ("Ask Petra Novak about keys.", "Ask Ms Nowak about keys."),
    ("Dr Petra Novak sees you.", "Ms Novak sees you."),
    ("Mr Novak sees you.", "Ms Novak sees you."),
    ("Parcels go to the United States.", "Parcels go to the UK."),
    ("The number plate is KX19 FTR.", "The number plate is KX19FRT."),
    ("Ticket no. 8812 is closed.", "Ticket #8821 is closed."),
    ("The gate shuts at 2145 hrs.", "The gate shuts at 22:45."),
    ("请拨打+86 139 1234 5678。", "请拨打13912345687。"),
    ("The remote's battery is flat.", "The remote's battery is full."),
    ("Four of the six printers are working.", "Four of the six printers are out of order."),
    ("六台打印机中有四台正常。", "六台打印机中有四台故障。"),
]
UNTOUCHED = [  # what only looks like one of these writings
    "Rooms 12 300 and 14 are free.",
    "The form is due on 1/2.",
    "See page 3/4.",
    "The film is in 1080p.",
    "It lasts until 5 p.m. today.",
    "Bring 1 250 ml bottle.",
    "Tap the 2.5,3 menu.",
]


@pytest.mark.parametrize(("text", "kind", "value"), VALUES)
def test_a_value_is_read_in_any_writing(text: str, kind: Kind, value: float) -> None:
    facts = read(text).facts
    assert [fact.kind for fact in facts] == [kind]
    assert facts[0].value == pytest.approx(value)


@pytest.mark.parametrize(("reference", "candidate"), [*SAME, *(pair[::-1] for pair in SAME if "Novak" not in pair[0])])
def test_two_writings_of_one_value_are_equal(reference: str, candidate: str) -> None:
    assert [reason for check in CHECKS for reason in complaints(reference, candidate, check)] == []


@pytest.mark.parametrize(("reference", "candidate"), OTHER)
def test_the_like_of_a_value_is_found(reference: str, candidate: str) -> None:
    assert [reason for check in CHECKS for reason in complaints(reference, candidate, check)]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_only_looks_like_such_a_writing_stays_as_it_is(text: str) -> None:
    assert read(text).plain == text


@pytest.mark.parametrize(
    "unit", ["1", "(1", "1 ", "1.234", "½", "1/2 ", "3 pm CET ", "Ms Foo ", "A 1 ", "1'234", "壹", "1万"]
)
def test_a_long_run_of_such_signs_is_read_to_its_end(unit: str) -> None:
    text = unit * 2000
    assert complaints(text, text, "numbers") == []
