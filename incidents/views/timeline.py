"""The timeline as people read it: what a person or Aegis did, files handed in together as one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from incidents.models import Event

NOTED = "incident.noted"
RESOLVED = "incident.resolved"
_HANDED_IN = "evidence.attached"
#: Files handed in one after the other within this time are one entry.
_TOGETHER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; `count` events stand behind it."""

    time: datetime
    actor: str
    source: str
    verb: str
    text: str
    count: int = 1
    incident_id: int | None = None

    @property
    def is_note(self) -> bool:
        """Whether a person wrote it, in Markdown."""
        return self.verb == NOTED


def entries(events: Iterable[Event]) -> Sequence[Entry]:
    """The events in order, newest first."""
    found: list[Entry] = []
    for event in events:
        last = found[-1] if found else None
        if last is not None and _belongs(event, last):
            count = last.count + 1
            found[-1] = Entry(
                event.time,
                last.actor,
                last.source,
                last.verb,
                f"{count:,} files handed in",
                count,
                last.incident_id,
            )
        else:
            who = (event.actor, event.source)
            found.append(
                Entry(event.time, *who, event.verb, event.text, incident_id=event.incident_id)
            )
    return found[::-1]


def _belongs(event: Event, last: Entry) -> bool:
    return (
        event.verb == last.verb == _HANDED_IN
        and event.actor == last.actor
        and event.incident_id == last.incident_id
        and event.time - last.time < _TOGETHER
    )
