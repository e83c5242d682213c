"""Memory that a worker has freed goes back to the system."""

import ctypes
import platform
from types import SimpleNamespace

import pytest

from aegis_web.allocator import give_back_what_is_freed


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_glibc_takes_the_sizes():
    assert give_back_what_is_freed()


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())

    assert not give_back_what_is_freed()
