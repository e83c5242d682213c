"""Compressed evidence, whole and cut off."""

import gzip
import io

import pytest
import zstandard

from diagnosis.core.evidence import Evidence
from diagnosis.readers.compression import decompressed, is_cut_off

LINES = b"".join(b"line %d of a log that says something\n" % n for n in range(20_000))
WHOLE = {
    "gzip": gzip.compress(LINES),
    "gzip-members": gzip.compress(LINES[:1000]) + gzip.compress(LINES[1000:]),
    "zstd": zstandard.compress(LINES),
}


def evidence(content: bytes) -> Evidence:
    return Evidence(name="a.log.gz", open=lambda: io.BytesIO(content), size=len(content))


@pytest.mark.parametrize("kind", WHOLE)
def test_a_whole_file_is_read_whole_and_is_not_cut_off(kind: str):
    plain = decompressed(evidence(WHOLE[kind]))
    with plain.open() as stream:
        assert stream.read() == LINES
    assert not is_cut_off(plain)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_of_a_file_that_was_cut_off_all_that_there_is_is_read(kind: str, share: float):
    content = WHOLE[kind]
    plain = decompressed(evidence(content[: int(len(content) * share)]))
    with plain.open() as stream:
        lines = list(stream)
    assert len(lines) > 1000
    assert LINES.startswith(b"".join(lines))
    assert is_cut_off(plain)


def test_a_file_without_its_last_bytes_is_cut_off_though_all_of_its_content_is_there():
    plain = decompressed(evidence(WHOLE["gzip"][:-3]))
    with plain.open() as stream:
        assert stream.read() == LINES
    assert is_cut_off(plain)


def test_a_file_of_which_nothing_comes_out_raises():
    with decompressed(evidence(WHOLE["gzip"][:12])).open() as stream, pytest.raises(EOFError):
        stream.read()


def test_the_file_beneath_is_closed_with_the_stream():
    beneath = io.BytesIO(WHOLE["zstd"])
    plain = decompressed(Evidence("a", lambda: beneath, len(WHOLE["zstd"])))
    beneath = io.BytesIO(WHOLE["zstd"])
    plain.open().close()
    assert beneath.closed
