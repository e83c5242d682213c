"""The evidence store on a real disk."""

import errno
import io
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from incidents import storage
from incidents.exceptions import BlobMissing, EvidenceTooLarge, StorageFull


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class Breaking(io.RawIOBase):
    """Gives some bytes, then fails."""

    def __init__(self, error: BaseException) -> None:
        self._pieces = [b"x" * 10_000]
        self._error = error

    def read(self, size: int = -1) -> bytes:
        if not self._pieces:
            raise self._error
        return self._pieces.pop()


@hypothesis_settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=st.binary(max_size=5000))
def test_bytes_come_back_as_they_were_given(content: bytes):
    stored = storage.store(io.BytesIO(content))
    with storage.open_blob(stored.sha256) as stream:
        assert stream.read() == content


def test_a_stored_file_can_be_read_by_lines():
    stored = storage.store(io.BytesIO(b"one\ntwo\n"))
    with storage.open_blob(stored.sha256) as stream:
        assert list(stream) == [b"one\n", b"two\n"]


def test_the_same_bytes_are_kept_once(settings):
    first, second = (storage.store(io.BytesIO(b"same" * 1000)) for _ in range(2))
    assert first == second
    assert len(files_in(settings.EVIDENCE_DIR)) == 1


def test_logs_take_less_room_at_rest():
    stored = storage.store(io.BytesIO(b"step 1 loss 2.0\n" * 10_000))
    assert stored.stored_size < stored.size / 10


def test_bytes_lie_under_their_hash_in_two_levels(settings):
    sha256 = storage.store(io.BytesIO(b"x")).sha256
    expected = settings.EVIDENCE_DIR / sha256[:2] / sha256[2:4] / f"{sha256}.zst"
    assert files_in(settings.EVIDENCE_DIR) == [expected]


def test_a_file_at_the_limit_is_taken(settings):
    settings.EVIDENCE_MAX_BYTES = 100
    assert storage.store(io.BytesIO(b"x" * 100)).size == 100


def test_a_file_over_the_limit_is_refused_and_nothing_stays(settings):
    settings.EVIDENCE_MAX_BYTES = 100
    with pytest.raises(EvidenceTooLarge, match="larger than the 100 bytes"):
        storage.store(io.BytesIO(b"x" * 101))
    assert files_in(settings.EVIDENCE_DIR) == []


@pytest.mark.parametrize("error", [ConnectionResetError(), KeyboardInterrupt()])
def test_an_upload_that_breaks_off_leaves_nothing(settings, error: BaseException):
    with pytest.raises(type(error)):
        storage.store(Breaking(error))
    assert files_in(settings.EVIDENCE_DIR) == []


def test_a_full_disk_is_told_and_leaves_nothing(settings):
    with pytest.raises(StorageFull):
        storage.store(Breaking(OSError(errno.ENOSPC, "no space")))
    assert files_in(settings.EVIDENCE_DIR) == []


def test_what_a_killed_process_left_is_removed_later_and_fresh_uploads_are_not(settings):
    waiting = settings.EVIDENCE_DIR / "tmp"
    waiting.mkdir(parents=True)
    old, fresh = waiting / "old.part", waiting / "fresh.part"
    for path in (old, fresh):
        path.write_bytes(b"half")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(old, (two_days_ago, two_days_ago))
    storage.store(io.BytesIO(b"x"))
    assert (old.exists(), fresh.exists()) == (False, True)


def test_bytes_that_are_not_there_are_told():
    with pytest.raises(BlobMissing):
        storage.open_blob("0" * 64)


def test_a_flipped_bit_on_the_disk_is_told_while_reading():
    stored = storage.store(io.BytesIO(os.urandom(100_000)))
    path = storage.path_of(stored.sha256)
    content = bytearray(path.read_bytes())
    content[50_000] ^= 1
    path.write_bytes(content)
    with storage.open_blob(stored.sha256) as stream, pytest.raises(BlobMissing, match="damaged"):
        stream.read()


def test_a_missing_end_on_the_disk_is_told_while_reading():
    stored = storage.store(io.BytesIO(os.urandom(100_000)))
    path = storage.path_of(stored.sha256)
    path.write_bytes(path.read_bytes()[:50_000])
    with (
        storage.open_blob(stored.sha256, size=stored.size) as stream,
        pytest.raises(BlobMissing, match="end is missing"),
    ):
        stream.read()
