"""Run the tests on a private PostgreSQL: `python -m tests.on_postgres [pytest arguments]`."""

import os
import subprocess
import sys

from tests.services import open_folder, postgres_bin, postgresql


def main() -> int:
    """Pytest's exit code; says what to install where PostgreSQL's server is missing."""
    if postgres_bin() is None:
        sys.stderr.write("PostgreSQL's server is missing (Debian: apt-get install postgresql)\n")
        return 2
    with open_folder() as folder, postgresql(folder / "server") as url:
        command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
        return subprocess.run(
            command, env={**os.environ, "DATABASE_URL": url}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
