"""One file with the output of several hosts is judged like their files."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.core.target import normalise_host
from diagnosis.readers.logs import Block
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.scan import Scan, matcher_for
from diagnosis.triage.sections import scan_sections
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.triage.judged import isolated, judged, placed

SHIPPED = Taxonomy.default()
MATCHER = matcher_for(SHIPPED)
EXAMPLES = [example for one in SHIPPED.signatures for example in one.examples]

KERNEL = "[ 100.5] mlx5_core 0000:9a:00.0: Port module event: module 0, Cable plugged\n"
OFF_THE_BUS = "[ 90.5] NVRM: Xid (PCI:0000:9b:00): 79, pid=12, GPU has fallen off the bus.\n"
DSHBAK, CLUSH = "-" * 16 + "\n{}\n" + "-" * 16 + "\n", "-" * 15 + "\n{}\n" + "-" * 15 + "\n"
FORMS = [
    DSHBAK,
    CLUSH,
    "{} | CHANGED | rc=0 >>\n",
    "==> /logs/{}/dmesg <==\n",
    "== {} ==\n",
    "### {}\n",
]


@pytest.mark.parametrize("form", FORMS)
def test_the_fault_is_of_the_host_in_the_heading(form: str):
    text = (
        form.format("node-03")
        + KERNEL
        + form.format("node-04")
        + KERNEL
        + OFF_THE_BUS
        + form.format("node-05")
        + KERNEL
    )
    answer = judged({"all.txt": text}, placement=placed(8))
    assert isolated(answer) == ["node-04"]
    assert answer.verdict.coverage["hosts_with_logs"] == 3


def test_equal_output_of_several_hosts_is_said_by_each():
    text = DSHBAK.format("node-[01-03]") + OFF_THE_BUS
    found = scan_sections(log(text), MATCHER)
    assert [clue.place.host for one in found for clue in one.clues] == [
        "node-01",
        "node-02",
        "node-03",
    ]
    assert len({(clue.log, clue.moment) for one in found for clue in one.clues}) == 3


def test_the_order_of_hosts_in_a_file_is_no_order_in_time():
    lines = [line.split("] ", 1)[1] for line in (OFF_THE_BUS, OFF_THE_BUS)]
    text = "".join(DSHBAK.format(f"node-0{n}") + line for n, line in enumerate(lines, 1))
    answer = judged({"all.txt": text})
    assert [one.score for one in answer.suspects[:2]] == [answer.suspects[0].score] * 2


def test_lines_lead_back_to_the_file():
    text = DSHBAK.format("node-01") + KERNEL + DSHBAK.format("node-02") + OFF_THE_BUS
    (clue,) = [clue for one in scan_sections(log(text), MATCHER) for clue in one.clues]
    assert (clue.line, clue.offset) == (8, text.index("[ 90.5]"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_lines_lead_back_to_the_file_in_other_encodings(encoding: str):
    text = DSHBAK.format("node-01") + "größer\n" + DSHBAK.format("node-02") + OFF_THE_BUS
    data = text.encode(encoding)
    (clue,) = [clue for one in scan_sections(log(data), MATCHER) for clue in one.clues]
    begun = text[: text.index("[ 90.5]")].encode(encoding)
    assert (clue.line, clue.offset, clue.place.host) == (8, len(begun), "node-02")


HOSTS = st.integers(1, 9).map("node-0{}".format)
LINES = st.lists(st.one_of(st.sampled_from(EXAMPLES), st.just("step 1 | loss 0.1")), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(HOSTS, LINES), min_size=1, max_size=8), st.sampled_from(FORMS))
def test_gathered_output_gives_the_findings_of_the_files(
    parts: list[tuple[str, list[str]]], form: str
):
    text = "".join(form.format(host) + lines_of(own) for host, own in parts)
    apart: dict[str, str] = {}
    for host, own in parts:
        apart[host] = apart.get(host, "") + lines_of(own)
    known = [host for host, _ in parts]
    files = [
        one
        for host, whole in apart.items()
        for one in scan_sections(log(whole, f"{host}.dmesg.log"), MATCHER, known=known)
    ]
    assert told(scan_sections(log(text), MATCHER, known=known)) == told(files)


def lines_of(own: list[str]) -> str:
    return "".join(f"{one}\n" for one in [*own, ""])


def told(scans: list[Scan]) -> Counter[tuple[str | None, str]]:
    """Which host says what how often."""
    found: Counter[tuple[str | None, str]] = Counter()
    for one in scans:
        for clue in one.clues:
            host = clue.place.host and normalise_host(clue.place.host)
            found[host, clue.code] += clue.count
    return found


RULES = st.builds(str.__mul__, st.sampled_from("-=#*"), st.integers(2, 20))
WORDS = st.sampled_from(["Epoch 1", "epoch-1", "step_100", "eval", "layer3", "node-09", "model-7b"])
BANNERS = st.one_of(
    RULES,
    WORDS,
    st.builds("{} {} {}".format, RULES, WORDS, RULES),
    st.builds("{} {}".format, RULES, WORDS),
    st.just("step 1 | loss 0.1"),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BANNERS, max_size=30))
def test_banners_of_a_training_log_name_no_host(lines: list[str]):
    text = "step 1\n" * 5 + "".join(f"{line}\n" for line in lines) + OFF_THE_BUS
    (one,) = scan_sections(log(text), MATCHER, known=["node-01", "node-02"])
    assert [clue.place.host for clue in one.clues] == [None]


def test_the_parts_of_a_block_are_the_block():
    text = b"one\r\ntwo\nthree\r\nfour"
    block = Block(text, 1, 0)
    cuts = [5, 9]
    parts = dict(block.parts(cuts))
    assert b"".join(part.text for part in parts.values()) == text
    assert {cut: (part.first_number, part.first_offset) for cut, part in parts.items()} == {
        0: (1, 0),
        5: (2, 5),
        9: (3, 9),
    }
