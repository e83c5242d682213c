"""Archives are unpacked to files of their own, and nothing in one ends a diagnosis."""

import bz2
import io
import lzma
import random
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Mapping

import pytest

from diagnosis.core.evidence import Evidence
from diagnosis.core.words import EvidenceKind
from diagnosis.engine import diagnose
from diagnosis.readers import archive_zip
from diagnosis.readers.archives import IN_PART, ArchiveLimits, unpacked
from tests.diagnosis.readers.logs_evidence import log

FATAL = b"[ 90.5] NVRM: Xid (PCI:0000:9b:00): 79, pid=12, GPU has fallen off the bus.\n"
FILES = {"all/node-003/dmesg": b"[ 1.0] started\n", "all/node-004/dmesg": FATAL}
TARS = ["w", "w:gz", "w:xz", "w:bz2"]


def tar(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
    return whole.getvalue()


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return whole.getvalue()


def taken(
    content: bytes, name: str = "bundle", limits: ArchiveLimits | None = None, **said: object
) -> tuple[dict[str, bytes], str]:
    """What of an archive was taken, by name, and what is said of the rest."""
    with unpacked([log(content, name, **said)], limits or ArchiveLimits()) as found:
        files = {}
        for item in found.evidence:
            with item.open() as stream:
                files[item.name] = stream.read()
        return files, "".join(one.reason for one in found.skipped)


@pytest.mark.parametrize("content", [*(tar(FILES, mode) for mode in TARS), zipped(FILES)])
def test_members_are_files_with_their_inner_path(content: bytes):
    files, said = taken(content)
    assert files == {f"bundle/{name}": data for name, data in FILES.items()}
    assert said == ""


@pytest.mark.parametrize("content", [tar(FILES), zipped(FILES)])
def test_a_fault_in_an_archive_is_found_with_its_host_and_file(content: bytes):
    answer = diagnose([log(content, "night.tgz")])
    (suspect,) = answer.suspects
    assert suspect.target.host == "node-004"
    assert suspect.findings[0].evidence == "night.tgz/all/node-004/dmesg"
    assert answer.skipped == ()


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_single_files_in_xz_and_bzip2_are_read(pack):
    (suspect,) = diagnose([log(pack(FATAL), "node-004.dmesg.log.xz")]).suspects
    assert suspect.target.host == "node-004"


def test_what_is_no_archive_is_passed_on_as_it_is():
    item = log(b"just a line\n")
    declared = log(zipped(FILES), "a.zip", kind=EvidenceKind.LOG)
    with unpacked([item, declared]) as found:
        assert (found.evidence, found.skipped) == ((item, declared), ())


def test_what_the_uploader_said_of_the_archive_counts_for_its_members():
    with unpacked([log(tar({"dmesg": FATAL}), "a.tgz", host="node-9", job="77")]) as found:
        assert [(one.host, one.job) for one in found.evidence] == [("node-9", "77")]


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/x", "C:\\temp\\..\\x", "a/../../x"])
@pytest.mark.parametrize("pack", [tar, zipped])
def test_no_member_gets_out_of_the_archives_name(pack, name: str):
    (path,) = taken(pack({name: b"line\n"}))[0]
    assert path.startswith("bundle/")
    assert ".." not in path.split("/")


def test_links_devices_and_folders_are_no_files():
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, kind in (
            ("a", tarfile.SYMTYPE), ("b", tarfile.LNKTYPE), ("c", tarfile.CHRTYPE),
            ("d", tarfile.FIFOTYPE), ("e", tarfile.DIRTYPE),
        ):  # fmt: skip
            header = tarfile.TarInfo(name)
            header.type, header.linkname = kind, "/etc/passwd"
            archive.addfile(header)
        header = tarfile.TarInfo("dmesg")
        header.size = len(FATAL)
        archive.addfile(header, io.BytesIO(FATAL))
    files, said = taken(whole.getvalue())
    assert files == {"bundle/dmesg": FATAL}
    assert said == f"{IN_PART}4 of no content, such as links (a, b, c and 1 more)"


def test_a_link_in_a_zip_is_no_file():
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("dmesg", FATAL)
    assert list(taken(whole.getvalue())[0]) == ["bundle/dmesg"]


def test_an_encrypted_member_is_left_out_and_named():
    content = bytearray(zipped({"secret.log": b"line\n", "dmesg": FATAL}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    files, said = taken(bytes(content))
    assert (list(files), said) == (["bundle/dmesg"], f"{IN_PART}1 encrypted (secret.log)")


@pytest.mark.parametrize("pack", [tar, zipped])
def test_archives_in_an_archive_are_read_and_no_deeper(pack):
    inner = pack({"deep.tgz": tar({"deeper": b"line\n"}), "dmesg": FATAL})
    files, said = taken(pack({"inner": inner}))
    assert files == {"bundle/inner/dmesg": FATAL}
    assert said == f"{IN_PART}1 nested too deep (deep.tgz)"


def test_what_desktops_add_is_passed_over_without_a_word():
    junk = {"__MACOSX/._dmesg": b"\0\5\x16\7", ".DS_Store": b"\0\0\0\1Bud1", "._a": b"\0"}
    assert taken(zipped({**junk, "dmesg": FATAL})) == ({"bundle/dmesg": FATAL}, "")


def test_binary_and_empty_members_are_told_of_in_one_entry():
    files, said = taken(tar({**FILES, "core": bytes(range(256)) * 40, "x": b""}))
    assert len(files) == 2
    assert said == f"{IN_PART}1 of a kind that Aegis does not read (core); 1 empty (x)"


def test_members_of_one_path_stay_apart():
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for content in (b"one\n", b"two\n"):
            header = tarfile.TarInfo("n/log")
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
    assert taken(whole.getvalue())[0] == {"bundle/n/log": b"one\n", "bundle/n/2/log": b"two\n"}


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_bomb_is_read_up_to_the_bound_and_said_to_be_too_large(pack):
    bomb = pack({"small": FATAL, "large": b"step 1 | loss 0.1\n" * 300_000, "late": b"line\n"})
    assert len(bomb) < 100_000
    files, said = taken(bomb, limits=ArchiveLimits(megabytes=1))
    assert files["bundle/small"] == FATAL
    assert sum(map(len, files.values())) <= 1024**2
    assert said == f"{IN_PART}too large once unpacked: the rest was not read"


@pytest.mark.parametrize("pack", [tar, zipped])
def test_of_too_many_members_the_first_are_read(pack):
    many = pack({f"node-{n:03d}/dmesg": b"line\n" for n in range(200)})
    files, said = taken(many, limits=ArchiveLimits(members=50))
    assert len(files) in {49, 50}
    assert said == f"{IN_PART}too many members: the rest was not looked at"


def test_headers_that_want_memory_are_refused():
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1 << 33
    content = header.tobuf() + b"0" * 100_000
    tracemalloc.start()
    said = taken(content)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said.startswith("nothing in this archive can be read: cut off or damaged")
    assert peak < 50 * 1024**2


def test_a_directory_that_wants_memory_is_refused(monkeypatch: pytest.MonkeyPatch):
    content = bytearray(zipped(FILES))
    struct.pack_into("<I", content, content.index(b"PK\x05\x06") + 12, 1 << 30)
    said = taken(bytes(content))[1]
    assert "its directory is too large" in said


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_of_an_archive_that_was_cut_off_what_there_is_is_read(share: float):
    noise = random.Random(7)  # noqa: S311 - a draw, no secret
    lines = "".join(f"step {n} | loss {noise.random()}\n" for n in range(20_000)).encode()
    whole = tar({"dmesg": FATAL, "train.log": lines})
    files, said = taken(whole[: int(len(whole) * share)])
    assert files["bundle/dmesg"] == FATAL
    assert lines.startswith(files["bundle/train.log"])
    assert said.startswith(IN_PART)
    assert "cut off or damaged" in said


def test_a_tar_without_its_end_is_said_to_be_cut_off_though_every_member_in_it_is_whole():
    whole = tar(FILES, "w")
    files, said = taken(whole[: len(whole.rstrip(b"\0")) // 512 * 512 + 512])
    assert files == {f"bundle/{name}": content for name, content in FILES.items()}
    assert said == f"{IN_PART}cut off or damaged (its end is missing)"


def test_a_tar_that_goes_on_with_noise_is_said_to_be_damaged():
    content = bytearray(tar({"dmesg": FATAL, "late.log": b"line\n"}, "w"))
    content[1024:1536] = bytes(range(256)) * 2
    files, said = taken(bytes(content))
    assert (list(files), "cut off or damaged" in said) == (["bundle/dmesg"], True)


def test_an_archive_without_files_is_said_to_be_empty():
    assert taken(zipped({})) == ({}, "nothing in this archive can be read: empty")


def test_one_bad_member_never_fails_the_rest():
    content = bytearray(zipped({"bad.log": b"line\n" * 900, "dmesg": FATAL}, zipfile.ZIP_STORED))
    content[content.index(b"line")] ^= 1
    files, said = taken(bytes(content))
    assert files["bundle/dmesg"] == FATAL
    assert "cut off or damaged, read up to there (bad.log)" in said


@pytest.mark.parametrize("seed", range(60))
def test_no_damage_raises(seed: int):
    noise = random.Random(seed)  # noqa: S311 - a draw, no secret
    whole = noise.choice([tar(FILES, noise.choice(TARS)), zipped(FILES), zipped({"a": tar(FILES)})])
    content = bytearray(whole)
    for _ in range(noise.randint(1, 12)):
        content[noise.randrange(4, len(content))] = noise.randrange(256)
    answer = diagnose([log(bytes(content), "bundle"), log(FATAL, "node-007.dmesg.log")])
    assert any(one.target.host == "node-007" for one in answer.suspects)


def test_the_members_files_are_gone_afterwards():
    with unpacked([log(tar(FILES))]) as found:
        kept: Evidence = found.evidence[0]
    with pytest.raises(FileNotFoundError):
        kept.open()


def test_zips_directory_bound_is_above_that_of_thousands_of_members():
    content = zipped({f"node-{n:05d}/var/log/messages": b"" for n in range(20_000)})
    told = archive_zip._directory_bytes(io.BytesIO(content))
    assert 0 < told < archive_zip._MAX_DIRECTORY_BYTES
