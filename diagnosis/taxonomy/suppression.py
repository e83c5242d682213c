"""Findings that people silenced: ignore rules, and maintenance windows.

What is silenced is left out of the judging and told in the trace with its reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from diagnosis.core.target import normalise_host
from diagnosis.taxonomy.fields import (
    TaxonomyError,
    instant_in,
    instant_text,
    mapping_in,
    optional_text_in,
    text_in,
    texts_in,
)
from diagnosis.taxonomy.patterns import PatternError, check_pattern, compile_re2

IGNORE_FIELDS = frozenset(["signature", "pattern", "cluster", "host", "reason", "expires"])
MAINTENANCE_FIELDS = frozenset(["cluster", "hosts", "job", "from", "until", "reason"])


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Leave out what a signature tells, or lines with a pattern, on a host or in a cluster.

    Where both signature and pattern are given, both must fit. An empty `cluster` means all of
    them, an empty `host` every host. The rule counts for incidents that began before it `expires`
    (epoch seconds).
    """

    reason: str
    expires: float
    signature: str = ""
    pattern: str = ""
    cluster: str = ""
    host: str = ""

    @classmethod
    def from_row(cls, row: object, place: str) -> "IgnoreRule":
        """The ignore rule in one row. Raises `TaxonomyError`."""
        fields = mapping_in(row, place, IGNORE_FIELDS)
        signature = optional_text_in(fields, "signature", place)
        pattern = optional_text_in(fields, "pattern", place)
        cluster = optional_text_in(fields, "cluster", place)
        host = optional_text_in(fields, "host", place)
        if not signature and not pattern:
            raise TaxonomyError(f"{place}: give a signature or a pattern to ignore")
        if not cluster and not host:
            raise TaxonomyError(f"{place}: give the host or the cluster that it is for")
        if pattern:
            try:
                check_pattern(pattern)
            except PatternError as error:
                raise TaxonomyError(f"{place}: {error}") from error
        return cls(
            reason=text_in(fields, "reason", place),
            expires=instant_in(fields, "expires", place),
            signature=signature,
            pattern=pattern,
            cluster=cluster,
            host=host,
        )

    @property
    def words(self) -> str:
        return f"ignored until {instant_text(self.expires)}: {self.reason}"


@dataclass(frozen=True, slots=True)
class MaintenanceWindow:
    """Hosts, a job or a whole cluster under maintenance, from `start` to `end` (epoch seconds).

    No hosts and no job: all of the cluster. Hosts and a job: those hosts, for that job.
    """

    cluster: str
    start: float
    end: float
    reason: str
    hosts: tuple[str, ...] = ()
    job: str = ""

    @classmethod
    def from_row(cls, row: object, place: str) -> "MaintenanceWindow":
        """The window in one row. Raises `TaxonomyError`."""
        fields = mapping_in(row, place, MAINTENANCE_FIELDS)
        found = cls(
            cluster=text_in(fields, "cluster", place),
            start=instant_in(fields, "from", place),
            end=instant_in(fields, "until", place),
            reason=text_in(fields, "reason", place),
            hosts=texts_in(fields, "hosts", place),
            job=optional_text_in(fields, "job", place),
        )
        if found.end <= found.start:
            raise TaxonomyError(f"{place}: the window ends before it begins")
        return found

    @property
    def words(self) -> str:
        span = f"{instant_text(self.start)} to {instant_text(self.end)}"
        return f"under maintenance from {span}: {self.reason}"


@dataclass(frozen=True)
class SuppressionRules:
    """Everything that is silenced in one cluster. Part of what `taxonomy_version` covers."""

    ignore: tuple[IgnoreRule, ...] = ()
    maintenance: tuple[MaintenanceWindow, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ignore or self.maintenance)

    @cached_property
    def patterns(self) -> tuple[tuple[int, Any], ...]:
        """Position of each ignore rule that has a pattern, with it compiled."""
        return tuple(
            (position, compile_re2(rule.pattern, captures=False))
            for position, rule in enumerate(self.ignore)
            if rule.pattern
        )


_NO_RULES: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Suppression:
    """The rules as they count for one incident: its job, and when it began (epoch seconds).

    Without `at` a rule that expires counts, and a window only for lines that tell their time.
    """

    rules: SuppressionRules = field(default_factory=SuppressionRules)
    job: str | None = None
    at: float | None = None

    def __bool__(self) -> bool:
        return bool(self.rules)

    def rules_on(self, line: bytes) -> frozenset[int]:
        """Positions of the ignore rules whose pattern the line has."""
        patterns = self.rules.patterns
        if not patterns:
            return _NO_RULES
        return frozenset(at for at, pattern in patterns if pattern.search(line))

    def reason(
        self,
        *,
        signature: str,
        host: str | None,
        on_line: frozenset[int] = frozenset(),
        first: float | None = None,
        last: float | None = None,
    ) -> str | None:
        """Why what a signature tells of a host is silenced; None where it is not.

        `on_line`: what `rules_on` said of its lines; `first` and `last`: when it was told.
        """
        ignored = self.ignored(signature=signature, host=host, on_line=on_line)
        return ignored or self.maintenance_of(host, first=first, last=last)

    def ignored(
        self, *, signature: str, host: str | None, on_line: frozenset[int] = frozenset()
    ) -> str | None:
        """The ignore rule that covers what a signature tells of a host, in words."""
        for position, rule in enumerate(self.rules.ignore):
            if rule.pattern and position not in on_line:
                continue
            if rule.signature in {"", signature} and self._ignores(rule, host):
                return rule.words
        return None

    def maintenance_of(
        self, host: str | None, *, first: float | None = None, last: float | None = None
    ) -> str | None:
        """The maintenance that covers a host during all of a time (of the incident, where the
        time is not known), in words; None where there is none.
        """
        start = self.at if first is None else first
        end = start if last is None else last
        if start is None or end is None:
            return None
        for window in self.rules.maintenance:
            if window.job and window.job != self.job:
                continue
            if window.hosts and not _among(host, window.hosts):
                continue
            if window.start <= start and end <= window.end:
                return window.words
        return None

    def _ignores(self, rule: IgnoreRule, host: str | None) -> bool:
        if self.at is not None and self.at >= rule.expires:
            return False
        return not rule.host or _among(host, (rule.host,))


def _among(host: str | None, names: Iterable[str]) -> bool:
    return host is not None and normalise_host(host) in {normalise_host(name) for name in names}
