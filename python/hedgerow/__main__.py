"""The programs ``hedgerow`` and ``hedgerow-studio``: the same as those built by cargo, in the same library."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from . import _hedgerow


def _arguments(name: str) -> list[str]:
    """The arguments after the path of the program, beside which it finds others."""
    own = sys.argv[0]
    if os.path.basename(own) == "__main__.py":
        own = os.path.join(sysconfig.get_path("scripts"), name)
    return [own, *sys.argv[1:]]


def main() -> int:
    """Runs the command."""
    return _hedgerow.command(_arguments("hedgerow"))


def studio() -> int:
    """Runs the studio until Ctrl-C."""
    # Python would note the signal and wait for the studio to return.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _hedgerow.studio(_arguments("hedgerow-studio"))


if __name__ == "__main__":
    sys.exit(main())
