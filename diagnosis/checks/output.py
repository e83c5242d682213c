"""What a tool left behind, and what could be read from it."""

from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """How a command ended."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    MISSING = "missing"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Output:
    """Raw output of one command; `exit_code` is None where it did not exit by itself."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    ending: Ending = Ending.EXITED


@dataclass(frozen=True, slots=True)
class Value:
    """One value: `name` as the parser calls it, of one device ("" for the host).

    `raw` is its text where the tool printed one: 1.10 and 1.1 are one number and two versions.
    """

    name: str
    value: float | str
    device: str = ""
    raw: str = ""

    def __str__(self) -> str:
        if self.raw:
            return self.raw
        return self.value if isinstance(self.value, str) else f"{self.value:g}"


class Unreadable(ValueError):  # noqa: N818 - named for what the person reads
    """Output that does not hold what the tool prints when it runs to its end."""
