"""One runner a folder: the kernel's lock on the file ``lock``, which dies with its process."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from cirrus_env.errors import RunLocked
from cirrus_env.runner.files import write_all

LOCK: Final = "lock"


def take_lock(folder: Path) -> int:
    """Lock the folder.

    Returns:
        The descriptor that holds the lock; closing it lets the folder go.

    Raises:
        RunLocked: Another runner holds it.
        OSError: It can't be locked at all.
    """
    import fcntl  # on POSIX only; reading a run works everywhere

    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
            name = holder if holder.isdecimal() else "?"
            raise RunLocked(f"{folder} is held by another runner (process {name})") from None
        os.ftruncate(descriptor, 0)
        write_all(descriptor, f"{os.getpid()}\n".encode())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
