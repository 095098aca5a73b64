"""`run.json`: what a run was made of, so that it can be repeated, resumed and believed."""

import hashlib
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness.errors import ResultError
from harness.models import Profile
from harness.sent_items import items_sha256
from harness.store import RunFolder

if TYPE_CHECKING:
    from harness.run import RunPlan
    from harness.session import SessionOptions

PACKAGES = (
    "truefall",
    "torch",
    "transformers",
    "tokenizers",
    "aiohttp",
    "uvicorn",
    "starlette",
    "toxiproxy-python",
    "numpy",
)
MUST_AGREE = (
    "seed",
    "profile",
    "evalset",
    "items_sha256",
    "policy_sha256",
    "fault_items",
    "baseline_items",
    "max_tokens",
)

WORDS = MappingProxyType({"policy_sha256": "the policy's sha256", "items_sha256": "the sha256 of its items"})


def describe_run(options: "SessionOptions", profile: Profile, plan: "RunPlan") -> dict[str, Any]:
    """The content of `run.json` when a run begins."""
    policy = Path(options.policy) if options.policy else profile.policy
    return {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha": git_sha(),
        "seed": options.seed,
        "profile": options.profile,
        "device": options.device,
        "stack": options.stack_file or options.gateway_url,
        "policy": str(policy),
        "policy_sha256": sha256_file(policy) if policy.is_file() else None,
        "evalset": options.evalset,
        "items_sha256": items_sha256(plan.items),
        "items": options.most_items,
        "item": list(options.item_ids) or None,
        "quick": options.quick,
        "fault_items": plan.sizes.fault,
        "baseline_items": plan.sizes.baseline,
        "max_tokens": plan.max_tokens,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: package_version(name) for name in PACKAGES},
        "models": {
            "primary": profile.primary.name,
            "secondary": profile.secondary.name,
            "encoder": profile.encoder.name,
            **({"judge": profile.judge.model} if profile.judge.model else {}),
            **({"nli": str(profile.judge.nli)} if profile.judge.nli else {}),
        },
    }


def open_folder(options: "SessionOptions", meta: dict[str, Any]) -> RunFolder:
    """A new run folder, or the one to go on with. Raises ResultError when that one was planned differently."""
    path = Path(options.run_folder) if options.run_folder else new_run_path(Path("results"), options.seed)
    if not (path / "run.json").is_file():
        return RunFolder.create(path, meta)
    folder = RunFolder.open(path)
    before = folder.meta()
    for key in MUST_AGREE:
        if before.get(key) != meta[key]:
            what = f"{WORDS.get(key, key)} was {before.get(key)!r} when this run began and is {meta[key]!r} now"
            raise ResultError(f"{path}: {what}; give what it began with, or begin a new run without --resume")
    return folder


def new_run_path(root: Path, seed: int) -> Path:
    """`<utc>-<git sha>-<seed>` under `root`."""
    return root / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{git_sha()}-{seed}"


def check_policy(policy: Path) -> None:
    """Read the policy as the gateway of a stack will. Raises the gateway's ConfigError with file, line and field."""
    from gateway.config import Backend, Config
    from gateway.policy import load_policy

    backends = tuple(Backend(name=name, url="http://127.0.0.1", model=name) for name in ("primary", "secondary"))
    load_policy(policy, Config(backends=backends))


def git_sha() -> str:
    """The short commit of the tree that runs, or `nogit`."""
    try:
        ran = subprocess.run(
            ["git", "rev-parse", "--short=9", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
    except (OSError, subprocess.CalledProcessError):
        return "nogit"
    return ran.stdout.strip()


def package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def sha256_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
