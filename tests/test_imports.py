"""Who may import whom, and what may not be imported early."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "gateway": {"gateway"},
    "faults": {"faults"},
    "evalsets": {"evalsets"},
    "harness": {"gateway", "faults", "evalsets", "harness"},
}
HEAVY = ("torch", "transformers", "pandas", "sklearn", "matplotlib", "sentence_transformers", "scipy")


def imported_packages(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_a_package_imports_only_the_packages_it_may(package):
    for file in (ROOT / package).rglob("*.py"):
        wrong = (imported_packages(file) & set(ALLOWED)) - ALLOWED[package]
        assert not wrong, f"{file.relative_to(ROOT)} imports {sorted(wrong)}"


def heavy_after(statement: str) -> str:
    check = f"import sys; {statement}; print(*sorted(m for m in {HEAVY!r} if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", ["import harness.cli", "import gateway.app", "import harness.pytest_plugin", "import faults.catalogue"]
)
def test_importing_a_front_door_loads_nothing_heavy(statement):
    assert heavy_after(statement) == ""
