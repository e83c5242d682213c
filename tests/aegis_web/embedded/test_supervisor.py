"""Where and whether an embedded instance may start."""

import socket
from pathlib import Path

import pytest

from aegis_web.embedded.supervisor import CannotServe, free_port, only_one_here


def test_a_taken_port_moves_on_to_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert free_port("127.0.0.1", port) > port


@pytest.mark.parametrize("port", [0, -1, 65_535, 80_000])
def test_a_port_that_cannot_be_is_refused(port: int):
    with pytest.raises(CannotServe, match="no port"):
        free_port("127.0.0.1", port)


def test_a_second_instance_on_one_data_folder_is_refused(tmp_path: Path):
    with only_one_here(tmp_path), pytest.raises(CannotServe, match="already runs"):  # noqa: SIM117
        with only_one_here(tmp_path):
            pass


def test_the_data_folder_is_closed_to_other_users(tmp_path: Path):
    folder = tmp_path / "data"

    with only_one_here(folder):
        assert folder.stat().st_mode & 0o077 == 0
