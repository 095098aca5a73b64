"""`python -m faults.backend_launcher --control DIR -- transformers serve …`: the same program, with hooks in it.

Faults of components write control files into DIR; the hooks read them. Without such a file the program is as it was.
"""

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from faults.component_hooks import HOOKS, MARK, Control, HookOnImport, Switch


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What was launched: `launch.json` in the control folder."""

    argv: list[str]
    cwd: str

    def model(self) -> Path | None:
        """The folder with the weights that the command line names."""
        for argument in self.argv[1:]:
            folder = Path(self.cwd, argument)
            if folder.is_dir() and any(folder.glob("*.safetensors")):
                return folder
        return None


def read_launch(control: Path) -> Launch | None:
    """None: nothing was launched with this control folder."""
    try:
        return msgspec.json.decode((control / "launch.json").read_bytes(), type=Launch)
    except (OSError, msgspec.DecodeError):
        return None


def with_damaged_weights(launch: Launch, switches: Sequence[Switch]) -> tuple[Launch, list[str]]:
    """The launch with a damaged copy in place of its model, and the ids of the faults that did it.

    Of several copies of one model it takes the first.
    """
    struck = []
    for switch in switches:
        wanted = Path(switch.model)
        if switch.kind == "damaged_weights" and launch.model() == wanted:
            # The copy has the model's own name, so that the API knows it under the same one.
            argv = [
                str(Path(switch.copy)) if Path(part).is_absolute() and Path(part) == wanted else part
                for part in launch.argv
            ]
            launch = Launch(argv=argv, cwd=str(Path(switch.copy).parent))
            struck.append(switch.id)
    return launch, struck


def run_program(argv: Sequence[str]) -> None:
    """Run a console script, `-m module`, or a Python file in this process."""
    name, *rest = argv
    if name == "-m" and rest:
        sys.argv = list(rest)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = list(argv)
    scripts = entry_points(group="console_scripts", name=Path(name).name)
    if scripts:
        sys.exit(next(iter(scripts)).load()())
    runpy.run_path(name, run_name="__main__")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m faults.backend_launcher", description="Start with hooks.")
    parser.add_argument("--control", type=Path, required=True, help="folder for the control files")
    parser.add_argument("program", nargs="+", help="after --: the command line of the backend")
    arguments = parser.parse_args(argv)
    control = Control(arguments.control.resolve())
    control.folder.mkdir(parents=True, exist_ok=True)
    launch = Launch(argv=arguments.program, cwd=str(Path.cwd()))
    (control.folder / "launch.json").write_bytes(msgspec.json.encode(launch))
    launch, struck = with_damaged_weights(launch, control.newest_first())
    for fault_id in struck:
        control.log(f"{MARK} {fault_id} damaged_weights loaded from {launch.cwd}")
    os.chdir(launch.cwd)
    sys.meta_path.insert(0, HookOnImport(HOOKS, control))
    run_program(launch.argv)


if __name__ == "__main__":
    main()
