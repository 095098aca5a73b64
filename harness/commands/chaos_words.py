"""`truefall chaos list`, `explain`, `import` and `export`: what there is, and the way to Chaos Toolkit and back."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gateway.damaged import why
from harness.errors import ConfigError

WORDS = ("list", "explain", "import", "export")
SHIPPED = Path("examples/experiments")
EXPERIMENTS = "tests/chaos"  # unless another is named


def run_word(args: argparse.Namespace) -> int:
    """Raises ConfigError, or the faults' BadExperiment."""
    if args.word == "list":
        from harness.chaos_catalogue import list_text

        print(list_text(folders_of(args)))
        return 0
    if args.subject is None:
        raise ConfigError(
            f"truefall chaos {args.word}: name {'what to explain' if args.word == 'explain' else 'a file'}"
        )
    if args.word == "explain":
        from harness.chaos_catalogue import explain_text

        print(explain_text(args.subject, folders_of(args), seed=args.seed))
        return 0
    return convert(args.word, Path(args.subject), seed=args.seed)


def folders_of(args: argparse.Namespace) -> list[Path]:
    """Raises ConfigError for a folder that was named and is not there; the two that nobody named may be missing."""
    if args.experiments != EXPERIMENTS and not Path(args.experiments).exists():
        raise ConfigError(f"--experiments {args.experiments}: no such file or folder")
    return [folder for folder in (Path(args.experiments), SHIPPED) if folder.exists()]


def convert(word: str, file: Path, *, seed: int) -> int:
    """The experiment on stdout, what was left out on stderr."""
    from faults.chaostoolkit import export_experiment, import_experiment
    from faults.experiment_file import load_experiment
    from faults.experiment_text import as_yaml

    if word == "import":
        value, left_out = import_experiment(document_of(file))
        print(as_yaml(value), end="")
    else:
        value, left_out = export_experiment(load_experiment(file), seed=seed)
        print(json.dumps(value, indent=2, ensure_ascii=False))
    for line in left_out:
        print(f"left out: {line}", file=sys.stderr)
    return 0


def document_of(file: Path) -> Any:
    """Raises ConfigError when the file is neither YAML nor JSON."""
    import yaml

    try:
        return yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: neither YAML nor JSON: {why(error)}") from None
