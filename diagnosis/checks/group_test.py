"""Whether a group of hosts passed its test in a round of an offline diagnosis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.checks.criteria import Reading, healthy_of, judge, reading_of, usual_of
from diagnosis.checks.output import Ending, Output, Unreadable
from diagnosis.checks.parsers import read
from diagnosis.checks.suite import Direction, Item

#: What a shell says of a command that it cannot run: nothing about the hosts.
_NOT_RUN = (126, 127)


@dataclass(frozen=True, slots=True)
class GroupResult:
    """`passed` is None where the group gave no answer; `value` is its worst reading."""

    passed: bool | None
    value: Reading | None = None


def group_results(
    item: Item, groups: Sequence[Sequence[Output]], earlier: Sequence[Reading] = ()
) -> list[GroupResult]:
    """The results of a round's groups from the outputs of each; `earlier` are readings of groups
    that passed in earlier rounds.

    A test that hangs, breaks off, or misses its criterion failed. A missing tool, a lost runner and
    garbage are no answer. Where there are too few readings for a distribution, running to the end
    is passing.
    """
    found = [_of_group(item, outputs) for outputs in groups]
    current = {str(place): one.value for place, one in enumerate(found) if one.value is not None}
    past = {f"earlier {place}": value for place, value in enumerate(earlier)}
    return [_judged(item, one, current, past) for one in found]


def _judged(
    item: Item, one: GroupResult, current: Mapping[str, Reading], past: Mapping[str, Reading]
) -> GroupResult:
    if one.passed is not True or one.value is None:
        return one
    healthy, usual = healthy_of(item, current, past), usual_of(current, past)
    return GroupResult(judge(item, one.value, healthy, usual).passed is not False, one.value)


def _of_group(item: Item, outputs: Sequence[Output]) -> GroupResult:
    told = [_of_output(item, output) for output in outputs]
    if not told or any(output.ending in {Ending.LOST, Ending.MISSING} for output in outputs):
        return GroupResult(None)
    if any(one.passed is False for one in told):
        return GroupResult(False)
    if any(one.passed is None for one in told):
        return GroupResult(None)
    return GroupResult(True, _worst(item, [one.value for one in told if one.value is not None]))


def _of_output(item: Item, output: Output) -> GroupResult:
    if output.ending == Ending.TIMED_OUT:
        return GroupResult(False)
    try:
        reading = reading_of(item, read(item.parser, output))
    except Unreadable:
        reading = None
    if reading is not None:
        return GroupResult(True, reading[0])
    broke_off = output.exit_code not in {0, None, *_NOT_RUN}
    return GroupResult(False if broke_off else None)


def _worst(item: Item, values: Sequence[Reading]) -> Reading:
    numbers = [float(value) for value in values if not isinstance(value, str)]
    if len(numbers) < len(values) or item.direction == Direction.EQUAL:
        return ", ".join(sorted({str(value) for value in values}))
    return min(numbers) if item.direction == Direction.HIGHER else max(numbers)
