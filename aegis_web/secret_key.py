"""The secret key that an instance makes for itself."""

import fcntl
import os
import secrets
from pathlib import Path


def kept_secret(folder: Path) -> str:
    """The key made at the first start, kept in `folder`, readable by its owner.

    Of several processes that start together on an empty folder one makes it, the others wait.
    """
    path = folder / "secret-key"
    if path.exists() and (kept := path.read_text().strip()):
        return kept
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = file.read().strip() or secrets.token_urlsafe(50)
        file.seek(0)
        file.write(kept)
    return kept
