"""When a backend wants to be asked again: seconds, a date in any of HTTP's three forms, or nothing that can be read."""

from email.utils import parsedate_to_datetime

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, running

from gateway.answers.completion import now_unix_s
from gateway.backends.failures import failure_of
from gateway.policy import Policy

NOW_UNIX_S = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("7", 7.0),
        ("2.4", 2.4),
        ("0", 1.0),
        ("-3", 1.0),
        ("Sun, 06 Nov 1994 08:50:07 GMT", 30.0),
        ("Sunday, 06-Nov-94 08:50:07 GMT", 30.0),
        ("Sun Nov  6 08:50:07 1994", 30.0),
        ("Sun, 06 Nov 1994 10:50:07 +0200", 30.0),
        ("Sun, 06 Nov 1994 08:50:07 -0000", 30.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 1.0),
        ("Wed, 21 Oct 1981 07:28:00 GMT", 1.0),
        ("Sun, 36 Nov 1994 08:50:07 GMT", 1.0),
        ("Sun, 06 Nov 999999 08:50:07 GMT", 1.0),
        ("soon", 1.0),
        ("", 1.0),
        ("nan", 1.0),
        ("inf", 1.0),
        ("1e999", 1.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_what_it_names_is_waited_for_and_at_least_a_second(status, value, wait_s):
    failure = failure_of(status, b"{}", value, name="b", now_unix_s=lambda: NOW_UNIX_S)
    assert (failure.reason, failure.retry_after_s) == ("backpressure", wait_s)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("named", "told"),
    [
        (("Sat, 01 Jan 2999 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"), "1"),
        (("Sat, 01 Jan 2999 00:00:00 GMT", "7"), "7"),
        (("Sat, 99 Jan 2999 00:00:00 GMT", "7"), "1"),
    ],
)
async def test_a_client_is_told_the_soonest_date_or_number_in_whole_seconds(stream, named, told):
    first, second = (answers({}, 429, f"Retry-After: {one}") for one in named)
    async with (
        running(first) as one,
        running(second) as two,
        gateway(backend(one, "primary"), backend(two, "secondary"), policy=policy_of()) as served,
    ):
        answer = await served.chat(stream=stream)
        assert (answer.status, answer.headers["Retry-After"]) == (429, told)
        assert answer.record["level"] == "critical"


async def test_a_long_wait_is_told_as_it_is_and_kept():
    async with (
        running(answers({}, 429, "Retry-After: 300")) as one,
        running(answers({}, 429, "Retry-After: 120")) as two,
        gateway(backend(one, "primary"), backend(two, "secondary"), policy=Policy()) as served,
    ):
        now_s = served.runtime.clock.now_s()
        assert (await served.chat()).headers["Retry-After"] == "120"
        assert 60 < int((await served.chat()).headers["Retry-After"]) <= 120
        assert served.runtime.backends["primary"].away_until_s >= now_s + 300
        assert (len(one.seen), len(two.seen)) == (1, 1)


async def test_the_policys_bound_is_on_how_long_the_gateway_stays_away_not_on_what_it_tells():
    soonest = "Fri, 01 Jan 2998 00:00:00 GMT"
    policy = policy_of(overload={"max_retry_after_s": 0.001})
    async with (
        running(answers({}, 429, "Retry-After: Sat, 01 Jan 2999 00:00:00 GMT")) as one,
        running(answers({}, 429, f"Retry-After: {soonest}")) as two,
        gateway(backend(one, "primary"), backend(two, "secondary"), policy=policy) as served,
    ):
        at_unix_s = parsedate_to_datetime(soonest).timestamp()
        told = int((await served.chat()).headers["Retry-After"])
        assert 0 <= at_unix_s - now_unix_s() - told + 1 < 3600
        await served.chat()
        assert len(one.seen) == 2
