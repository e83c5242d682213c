"""The quick way through a log finds what a slow look at every line finds."""

import io
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.readers.collective_reports import PATTERNS as REPORT_PATTERNS
from diagnosis.readers.logs import parsed_line, read_blocks
from diagnosis.readers.logs_colours import without_colours
from diagnosis.taxonomy.matcher import Matcher
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.clue_book import MAX_CLUES, MAX_RECORDS
from diagnosis.triage.facts import FACT_PATTERNS
from diagnosis.triage.scan import Scan, scan
from diagnosis.triage.sheet_states import SHEET_STATES
from tests.diagnosis.readers.logs_evidence import log

SHIPPED = Taxonomy.default()
EXAMPLES = [
    example
    for one in SHIPPED.signatures
    if one.code not in SHEET_STATES
    for example in one.examples
]
RE2, NATIVE = (
    Matcher(SHIPPED.signatures, (*FACT_PATTERNS, *REPORT_PATTERNS), native=native)
    for native in (False, True)
)

DIGITS = st.integers(0, 1100)
CLOCK = st.integers(0, 59)
HEADS = st.one_of(
    st.builds("2025-11-30 10:53:{:02d},0{:02d} [rank{}]: ".format, CLOCK, CLOCK, DIGITS),
    st.builds("2025-03-04T02:00:{:02d}.5Z node-{:03d} py[{}]: ".format, CLOCK, CLOCK, DIGITS),
    st.builds("Mar  4 02:{:02d}:01 gpu{} kernel: ".format, CLOCK, DIGITS),
    st.builds("[{:6d}.{:06d}] ".format, DIGITS, DIGITS),
    st.builds("node-{:02d}:{}:{} [3] NCCL WARN ".format, st.integers(0, 40), DIGITS, DIGITS),
    st.builds("{}: ".format, DIGITS),
    st.builds(
        "[rank{}]:[E304 02:07:{:02d}.5 ProcessGroupNCCL.cpp:632] [Rank {}] ".format,
        DIGITS,
        CLOCK,
        DIGITS,
    ),
    st.builds("node-{:02d} | [1,{}]<stderr>:".format, st.integers(0, 40), DIGITS),
    st.sampled_from(["", " ", "(raylet) ", "\x1b[36m(Worker pid=7, ip=10.0.0.3)\x1b[0m "]),
)  # fmt: skip
MESSAGES = st.one_of(
    st.sampled_from(EXAMPLES),
    st.builds("step {} | loss 0.{}".format, DIGITS, DIGITS),
    st.builds("Xid (PCI:0000:{:02x}:00): 79, pid={}".format, st.integers(0, 255), DIGITS),
    st.sampled_from(["  File 'a.py'", "größer", "", "Traceback (most recent call last):"]),
)
ENDS = st.sampled_from(["\n"] * 6 + ["\r\n", "\r", "\x1b[0m\n", " \x1b[31m!\n", ""])
TEXTS = st.lists(st.tuples(HEADS, MESSAGES, ENDS), max_size=40).map(
    lambda lines: "".join(part for line in lines for part in line)
)


CODES = st.sampled_from(["\x1b[36m", "\x1b[0m", "\x1b[1;31m", "\x1b]0;title\x07", "\x1b[2K", "\r"])


@st.composite
def untidy(draw: st.DrawFn) -> bytes:
    """A log, in part or all of it with codes and returns anywhere, as UTF-8 or Latin-1."""
    text = without_colours(draw(TEXTS).encode()).decode()
    places = draw(st.lists(st.integers(0, len(text)), max_size=30))
    for at in sorted(places, reverse=True):
        text = text[:at] + draw(CODES) + text[at:]
    quiet = "step 1 | loss 0.1\n" * draw(st.sampled_from([0, 400]))
    return (quiet + text).encode(draw(st.sampled_from(["utf-8", "latin-1"])))


def cleaned(data: bytes) -> dict[int, list[bytes]]:
    """Line of the file → the lines in it, cleaned one by one."""
    lines = {}
    for number, whole in enumerate(data.split(b"\n"), 1):
        parts = whole.removesuffix(b"\r").split(b"\r")
        lines[number] = [without_colours(part) for part in parts]
    return lines


def plainly(text: str) -> dict[int, Counter[str]]:
    """Line → code → matches, from a look at every line."""
    found: dict[int, Counter[str]] = {}
    for block in read_blocks(io.BytesIO(text.encode())):
        for index in range(len(block)):
            line = block.line(index)
            match = RE2.best(line.data, line.message_data)
            if match is not None:
                at = found.setdefault(block.number(index), Counter())
                at[match.signature.code] += 1
    return found


def as_json(line: str, number: int) -> str:
    """One line as container runtimes write it, each from one of three hosts."""
    around = {"time": f"2025-11-30T10:53:{number % 60:02d}Z", "host": f"node-{number % 3}"}
    return json.dumps({"log": f"{line}\n", **around}) + "\n"


def counted(found: Scan) -> Counter[str]:
    codes: Counter[str] = Counter()
    for clue in found.clues:
        codes[clue.code] += clue.count
    return codes


@settings(max_examples=150)
@given(TEXTS)
def test_untidy_text_gives_the_findings_of_a_look_at_every_line(text: str) -> None:
    lines = plainly(text)
    found = scan(log(text), RE2)
    assert counted(found) == sum(lines.values(), Counter())
    assert all(lines[clue.line][clue.code] for clue in found.clues)


@settings(max_examples=100)
@given(TEXTS)
def test_messages_in_json_give_the_findings_of_a_look_at_every_line(text: str) -> None:
    wrapped = "".join(as_json(line, n) for n, line in enumerate(["start", *text.split("\n")]))
    found = scan(log(wrapped), RE2)
    assert counted(found) == sum(plainly(wrapped).values(), Counter())


@settings(max_examples=80)
@given(untidy())
def test_colours_and_redrawn_lines_anywhere_change_no_finding(data: bytes) -> None:
    lines = {number: told_by(parts) for number, parts in cleaned(data).items()}
    slow, quick = (scan(log(data), matcher) for matcher in (RE2, NATIVE))
    assert (slow.clues, slow.facts, slow.reports) == (quick.clues, quick.facts, quick.reports)
    assert counted(quick) == sum(lines.values(), Counter())
    assert all(lines[clue.line][clue.code] for clue in quick.clues)


def told_by(parts: list[bytes]) -> Counter[str]:
    """Code → matches, from a look at each line."""
    lines = map(parsed_line, parts)
    matches = (RE2.best(line.data, line.message_data) for line in lines)
    return Counter(match.signature.code for match in matches if match is not None)


@pytest.mark.parametrize("ranks", [3, 700])
def test_the_host_and_rank_around_a_message_are_whose_it_is(ranks: int) -> None:
    lines = [
        json.dumps({"message": "CUDA error: out of memory", "rank": rank, "host": f"node-{rank}"})
        for rank in range(ranks)
    ]
    found = scan(log("\n".join(lines * 3)), RE2).clues
    told = [(clue.place.host, clue.place.rank, clue.count) for clue in found]
    assert told == [(f"node-{rank}", rank, 3) for rank in range(ranks)]


def test_the_last_time_around_a_flood_of_messages_is_kept() -> None:
    lines = [
        json.dumps({"log": "[rank1]: CUDA error: x", "time": f"2025-11-30T10:53:{second:02d}Z"})
        for second in range(60)
    ]
    (clue,) = scan(log("\n".join(lines)), RE2).clues
    assert clue.moment is not None
    assert clue.last is not None
    assert (clue.count, clue.last.time - clue.moment.time) == (60, 59)


@settings(max_examples=150)
@given(TEXTS)
def test_both_scanners_lead_to_the_same_clues_and_facts(text: str) -> None:
    slow, quick = (scan(log(text), matcher) for matcher in (RE2, NATIVE))
    assert (slow.clues, slow.facts, slow.reports) == (quick.clues, quick.facts, quick.reports)


@pytest.mark.parametrize("ranks", [3, 700])
def test_the_same_words_of_another_rank_are_that_ranks(ranks: int) -> None:
    lines = [
        f"2025-11-30 10:53:20,001 [rank{rank}]: CUDA error: out of memory\n"
        for rank in range(ranks)
    ]
    found = scan(log("".join(lines * 2)), RE2).clues
    assert [(clue.place.rank, clue.count) for clue in found] == [(rank, 2) for rank in range(ranks)]


def test_the_last_time_of_a_flood_is_kept() -> None:
    text = "".join(f"2025-11-30 10:53:{s:02d} [rank1]: CUDA error: x\n" for s in range(60))
    (clue,) = scan(log(text), RE2).clues
    assert clue.moment is not None
    assert clue.last is not None
    assert (clue.count, clue.last.time - clue.moment.time) == (60, 59)


def test_a_flood_hides_no_other_signature() -> None:
    flood = "".join(
        f"[rank{rank}]: NCCL WARN Call to ibv_poll_cq failed with error {rank}\n"
        f"[rank{rank}]: torch.cuda.OutOfMemoryError: CUDA out of memory.\n"
        for rank in range(MAX_CLUES)
    )
    last = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen off the bus.\n"
    found = scan(log(flood + last), RE2).clues
    assert found[-1].code == "xid-79-fallen-off-bus"
    assert MAX_CLUES <= len(found) <= MAX_CLUES + len(SHIPPED) * MAX_RECORDS


def test_a_rule_for_one_rank_is_found_after_the_same_words_of_another() -> None:
    row = SHIPPED.by_code["cuda-oom"]
    zero = replace(row, code="zero", pattern=r"\[rank0\]: CUDA out", priority=99)
    rows = [row, zero]
    lines = [f"2025-11-30 10:53:20,001 [rank{rank}]: CUDA out of memory.\n" for rank in (3, 0)]
    found = scan(log("".join(lines)), Matcher(rows)).clues
    assert [clue.code for clue in found] == ["cuda-oom", "zero"]


def test_a_long_line_is_cut_with_a_mark() -> None:
    long = "NVRM: Xid (PCI:0000:c3:00): 79, GPU has fallen off the bus. " + "and so on, " * 60
    (clue,) = scan(log(long.encode() + b"\n"), RE2).clues
    assert (len(clue.text), clue.text[-2:]) == (400, " …")
