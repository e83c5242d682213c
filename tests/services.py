"""Real services for tests, private to one run: PostgreSQL and Redis on UNIX sockets."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

POSTGRES_HOMES = Path("/usr/lib/postgresql")


def postgres_bin() -> Path | None:
    """The folder of PostgreSQL's server programs: the newest that is installed, or the PATH's."""
    homes = sorted(POSTGRES_HOMES.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if homes:
        return homes[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def needed(program: str, package: str) -> str:
    """The path of a program, or a skip that says what to install."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install {package})")
    return path


def _run_quietly(command: Sequence[str]) -> None:
    """PostgreSQL refuses to run as root: there the command runs as the package's own user."""
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_user, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that the database's own user may enter; pytest's are closed to everyone else."""
    with tempfile.TemporaryDirectory(prefix="aegis-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """A fresh PostgreSQL under `folder`, as a database URL; gone when the block ends."""
    programs = postgres_bin()
    if programs is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = folder / "data"
    initdb = [str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "aegis", "--no-sync"]
    _run_quietly(initdb)
    start_postgresql(folder)
    try:
        yield f"postgres://aegis@/{folder}/postgres"
    finally:
        stop_postgresql(folder)


def start_postgresql(folder: Path) -> None:
    """Starts the server of `folder`, once its data is there."""
    options = f"-c listen_addresses= -c unix_socket_directories={folder}"
    options += " -c fsync=off -c full_page_writes=off -c jit=off"
    _run_quietly([*_control(folder), "-o", options, "start"])


def stop_postgresql(folder: Path) -> None:
    """Stops it at once, as a machine that loses power does."""
    _run_quietly([*_control(folder), "-m", "immediate", "stop"])


def _control(folder: Path) -> Sequence[str]:
    programs = postgres_bin()
    assert programs is not None
    return [str(programs / "pg_ctl"), "-D", str(folder / "data"), "-l", str(folder / "log"), "-w"]


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A fresh Redis under `folder` on a UNIX socket, as a broker URL; gone when the block ends."""
    program = needed("redis-server", "redis-server")
    folder.mkdir(parents=True, exist_ok=True)
    socket = folder / "redis.sock"
    command = [program, "--port", "0", "--unixsocket", str(socket), "--dir", str(folder)]
    process = subprocess.Popen([*command, "--save", ""], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 90
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield f"redis+socket://{socket}"
    finally:
        process.terminate()
        process.wait()
