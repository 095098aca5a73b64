"""A state of the transport in the place of an answer, and the same words where they are the business."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks.transport import check
from harness.fidelity.reading.pair import pair


def told(reference: str, candidate: str) -> bool:
    return bool(check(pair(Case(id="1", reference=reference, candidate=candidate))))


BUSINESS = [
    ("Pets are allowed, only snakes are not.", "Pets are allowed, with the exception of snakes."),
    ("All staff wear a helmet.", "All staff wear a helmet; there is no exception for guests."),
    ("Everyone pays, even pupils.", "Everyone pays, and pupils are not an exception."),
    ("Open daily, closed in May.", "Open daily, with one exception in May."),
    ("Type 404 at the door.", "The door code 404 opens it."),
    ("The lecture is in room 404.", "The lecture takes place in room 404."),
    ("Your overdraft limit is 500.", "You may overdraw up to 500"),
    ('{"deposit": 500}', '{"deposit": 500 }'),
    ("The charger goes into the wall.", "Plug the charger into the wall socket."),
    ("The mill lies above the village.", "The mill lies upstream of the village."),
    ("You are logged out after 15 idle minutes.", "Your session timed out after 15 minutes without a click."),
    ("The default limit is 20 seconds.", "The timeout is 20 seconds."),
    ("Bus 502 stops here.", "Line 502 calls at this stop."),
    ("Put the timeout of 30s into the file.", "Write `timeout: 30s` into the file."),
    ("The flat costs 504 a month.", "The rent, service included, is 504"),
    ("外卖迟到赔三元。", "外卖超时赔三元。"),
    ("订单一小时内没付款就取消。", "订单超时1小时未付款会自动取消。"),
    ("上不了网就重启光猫。", "遇网络故障请重启光猫。"),
    ("借书过期每天罚五角。", "借书超时每天罚五角。"),
    ("You are logged out after 20 idle minutes.", "Your session timed out after 20 minutes."),
    ("Pay again where nothing came back.", "If the request timed out, pay again."),
    ("没有返回就再试一次。", "若查询请求超时未返回，请重试。"),
]
STATES = [
    ("Your parcel is with the courier.", "The lookup timed out."),
    ("Your parcel is with the courier.", "Timeout."),
    ("Your balance is 30 euros.", "The request timed out after 30 seconds."),
    ("Your balance is 30 euros.", "Upstream timed out after 10000 ms when calling the ledger."),
    ("您的余额是三十元。", "余额查询请求超时后未返回。"),
    ("Your parcel is with the courier.", "HTTP 503"),
    ("Your parcel is with the courier.", "Your parcel could not be found (404 not found)."),
    ("Your parcel is with the courier.", '{"status": 503}'),
    ("Your parcel is with the courier.", "The order service answered with 502."),
    ("Your parcel is with the courier.", "There was no response from the server."),
    ("Your parcel is with the courier.", "An exception occurred."),
    ("Your parcel is with the courier.", "NullPointerException at line 3"),
    ("Your parcel is with the courier.", "Socket closed."),
    ("您的包裹已发出。", "请求超时。"),
    ("您的包裹已发出。", "物流接口超时"),
    ("您的包裹已发出。", "查询超时，您的包裹丢失。"),
    ("您的包裹已发出。", "网络异常"),
    ("您的包裹已发出。", "该包裹返回 504 超时，说明没有寄出。"),
    ("The ferry runs.", "The ferry timed out and therefore does not run."),
    ("The vet cleared the dog.", "The vet check is marked as timed out, so the dog is not cleared."),
]


@pytest.mark.parametrize(("reference", "candidate"), BUSINESS)
def test_the_same_words_of_the_business_are_no_state(reference: str, candidate: str) -> None:
    assert not told(reference, candidate)


@pytest.mark.parametrize(("reference", "candidate"), STATES)
def test_a_state_of_the_transport_is_no_answer(reference: str, candidate: str) -> None:
    assert told(reference, candidate)
