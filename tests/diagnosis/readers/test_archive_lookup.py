"""A file in an archive is found again under the name that its findings have."""

import pytest

from diagnosis.readers.archive_lookup import inner_file
from diagnosis.readers.archive_members import BrokenArchive
from diagnosis.readers.archives import unpacked
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.readers.test_archives import FATAL, FILES, TARS, tar, zipped


def found(content: bytes, path: str) -> bytes:
    with inner_file(log(content, "bundle"), path) as stream:
        return stream.read()


@pytest.mark.parametrize("content", [*(tar(FILES, mode) for mode in TARS), zipped(FILES)])
def test_every_file_that_was_read_is_found_under_its_name(content: bytes):
    for name, inside in FILES.items():
        assert found(content, f"bundle/{name}") == inside


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_file_of_an_archive_in_an_archive_is_found(pack):
    content = pack({"first.log": b"line\n", "inner": pack({"deep/dmesg": FATAL})})
    assert found(content, "bundle/inner/deep/dmesg") == FATAL


def test_files_of_one_path_are_told_apart_as_reading_did():
    content = zipped({"a/log": b"one\n", "./a/log": b"two\n", "__MACOSX/a/log": b"three\n"})
    with unpacked([log(content, "bundle")]) as read:
        names = [item.name for item in read.evidence]
    assert [found(content, name) for name in names] == [b"one\n", b"two\n"]


@pytest.mark.parametrize("path", ["bundle/none", "bundle", "", "bundle/../../etc/passwd"])
def test_what_is_not_there_is_told_in_words(path: str):
    with pytest.raises(BrokenArchive, match="has no file"):
        found(zipped(FILES), path)


def test_damage_is_told_in_words():
    with pytest.raises(BrokenArchive):
        found(zipped(FILES)[:60], "bundle/all/node-003/dmesg")
