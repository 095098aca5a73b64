"""JSON completions through one backend, the next one, and the paths without a model."""

from served import backend, gateway
from upstream_stub import answers, running, says


async def test_a_healthy_answer_carries_its_level_and_nothing_else():
    async with running(says("Paris is the capital.")) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat()
        assert answer.status == 200
        assert answer.text == "Paris is the capital."
        assert answer.record == {"level": "healthy"}
        assert up.seen[0]["model"] == "primary-model"


async def test_the_next_backend_answers_and_the_record_says_why():
    broken = answers({"error": "x"}, 500)
    async with (
        running(broken) as first,
        running(says("Paris is the capital.")) as second,
        gateway(backend(first, "primary"), backend(second, "secondary")) as served,
    ):
        answer = await served.chat()
        assert answer.text == "Paris is the capital."
        assert answer.record["path"] == "secondary"
        assert answer.record["reasons"] == ["backend_error"]
        assert answer.json["model"] == "secondary-model"
        assert answer.headers["x-degradation-path"] == "secondary"


async def test_the_template_answers_when_no_backend_does_and_is_marked_as_abstaining():
    async with running(answers({}, 500)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat()
        assert answer.status == 200
        assert answer.record["path"] == "template"
        assert answer.record["abstained"] is True
        assert answer.record["level"] == "critical"
