"""Where long work on a prompt looks whether anybody still waits for it."""

from collections.abc import Callable

from gateway.errors import Abandoned

Checkpoint = Callable[[], None]  # raises Abandoned where nobody waits any more


def nobody_leaves() -> None:
    """A checkpoint of work that is always done to its end."""


class Waiter:
    """Who waits for one piece of work; as a checkpoint it may be called from any thread."""

    def __init__(self) -> None:
        self._left = False

    def leave(self) -> None:
        """The work is for nobody from now on."""
        self._left = True

    def __call__(self) -> None:
        """Raises Abandoned."""
        if self._left:
            raise Abandoned("nobody waits for this prompt any more")
