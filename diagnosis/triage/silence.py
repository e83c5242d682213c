"""Silence: a host whose log ends before the others fail. A log never given is not silence."""

from diagnosis.core.target import normalise_host
from diagnosis.core.words import SignatureClass
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Moment
from diagnosis.triage.scan import Scan
from diagnosis.triage.timeline import on_utc


def silent_hosts(case: Case) -> dict[str, float]:
    """Host (normalised) → seconds from its last word to the first failure that others report.

    Only hosts with a log of their own that carries times, and that report nothing themselves.
    """
    failures = [
        clue
        for clue in case.of(SignatureClass.DISTRIBUTED)
        if clue.moment and clue.moment.scale == "utc" and clue.place.host
    ]
    if not failures:
        return {}
    start = min(clue.moment.time for clue in failures if clue.moment)
    reporting = {normalise_host(clue.place.host) for clue in failures if clue.place.host}
    silent: dict[str, float] = {}
    for scan in case.scans:
        host = _only_host(scan)
        last = _last_word(scan, case)
        if host is None or last is None or host in reporting:
            continue
        if start - last.time > case.settings.silence:
            silent[host] = start - last.time
    return silent


def _only_host(scan: Scan) -> str | None:
    """The one host that a log speaks for."""
    if scan.origin.host:
        return normalise_host(scan.origin.host)
    hosts = {normalise_host(host) for host in scan.facts.hosts}
    return hosts.pop() if len(hosts) == 1 else None


def _last_word(scan: Scan, case: Case) -> Moment | None:
    if scan.facts.last is None:
        return None
    moment = on_utc(scan.facts.last, case.near, scan.facts.boot)
    return moment if moment and moment.scale == "utc" else None
