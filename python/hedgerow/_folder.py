"""Folders that go with the object that they belong to."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


def _remove(path: str, owner: int) -> None:
    # A process that was forked has the object too, and must not take the files away.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


class Folder:
    """A folder that only this user can read. It goes when nothing refers to this object any more, or at the end."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="hedgerow-")
        weakref.finalize(self, _remove, self.name, os.getpid())
