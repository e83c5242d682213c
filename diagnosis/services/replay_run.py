"""One slice of a replay: incidents judged by the rules before and after, and compared."""

import logging
import os
import socket
import time
import uuid
from datetime import datetime
from functools import lru_cache

from diagnosis.engine import diagnose
from diagnosis.models import Replay, ReplayDifference
from diagnosis.services import replays
from diagnosis.services.evidence import evidence_of, placement_of, topology_of
from diagnosis.services.heartbeat import kept_alive
from diagnosis.services.history import history_for
from diagnosis.services.outlines import Outline, alarm, difference, outline
from diagnosis.services.rulebook import rulebook_of
from diagnosis.services.run import Engine, suppression_for
from diagnosis.services.site_drafts import with_site_changes
from diagnosis.taxonomy.rulebook import ClusterRules, Rulebook
from incidents.exceptions import LeaseLost
from incidents.models import Incident

logger = logging.getLogger(__name__)

#: Seconds after which a slice ends, so that diagnoses which wait for a worker get one.
SLICE_SECONDS = 5.0


def run_slice(pk: int, *, engine: Engine = diagnose, seconds: float = SLICE_SECONDS) -> bool:
    """Judges incidents for a while; False where another worker has the replay or it is over.

    Every incident is one short transaction; a worker that dies loses one incident's work.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    if not replays.claim(pk=pk, owner=owner):
        return False
    try:
        with kept_alive(pk=pk, owner=owner, extend=replays.extend_lease):
            ended = _judge_incidents(pk, owner, engine, time.monotonic() + seconds)
    except LeaseLost:
        logger.info("Replay %s was cancelled or taken over", pk)
        return False
    except Exception as error:
        logger.exception("Replay %s failed", pk)
        replays.fail(pk=pk, owner=owner, error=f"{type(error).__name__}: {error}")
        return True
    if ended:
        replays.finish(pk=pk, owner=owner)
    else:
        replays.give_back(pk=pk, owner=owner)
    return True


def _judge_incidents(pk: int, owner: str, engine: Engine, until: float) -> bool:
    """Whether all incidents are judged."""
    replay = Replay.objects.get(pk=pk)
    before, after = rulebooks(pk, replay.queued_at)
    left = replays.incidents_since(replay.since)
    if replay.position is not None:
        left = left.filter(pk__lt=replay.position)
    for incident in left.select_related("cluster", "job", "attempt").iterator(chunk_size=50):
        found = _judged(replay, incident, before, after, engine)
        replays.note(pk=pk, owner=owner, incident=incident, found=found)
        if time.monotonic() > until:
            return False
    return True


@lru_cache(maxsize=2)
def rulebooks(pk: int, _queued_at: datetime) -> tuple[Rulebook, Rulebook]:
    """The rules before and after.

    Kept for the next slice: a replay's rules don't change, and compiling them takes a second. The
    time of the request tells replays apart where a database gives a key out again.
    """
    replay = Replay.objects.select_related("base").get(pk=pk)
    before = rulebook_of(replay.base)
    rows = {str(row["code"]): row for row in before.signatures}
    for code, change in replay.changes.items():
        rows.pop(code, None)
        if change["after"] is not None:
            rows[code] = change["after"]
    ordered = [rows[code] for code in sorted(rows)]
    after = Rulebook(ordered, before.overrides, before.ignore_rules, before.maintenance)
    return before, with_site_changes(after, replay.site_changes)


def _judged(
    replay: Replay, incident: Incident, before: Rulebook, after: Rulebook, engine: Engine
) -> ReplayDifference | None:
    """The difference in one incident; None where there is none.

    Evidence that the engine cannot take ends in the difference's error, and the replay goes on.
    """
    cluster = incident.cluster.name
    try:
        old = _answer(incident, before.rules_of(cluster), engine)
        new = _answer(incident, after.rules_of(cluster), engine)
    except Exception as error:
        logger.exception("Replay %s: %s cannot be judged", replay.pk, incident.reference)
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")
        return ReplayDifference(replay=replay, incident=incident, error=reason)
    found = difference(old, new)
    if not found:
        return None
    return ReplayDifference(
        replay=replay,
        incident=incident,
        before=old,
        after=new,
        changed=list(found.changed),
        alarm=alarm(old, found, incident.resolution)[:300],
        newly_isolated=len(found.newly_isolated),
    )


def _answer(incident: Incident, rules: ClusterRules, engine: Engine) -> Outline:
    answer = engine(
        [evidence for _, evidence in evidence_of(incident).values()],
        placement=placement_of(incident),
        topology=topology_of(incident.cluster),
        taxonomy=rules.taxonomy,
        suppression=suppression_for(incident, rules.suppression),
        history=history_for(incident, rules.taxonomy),
        now=incident.opened_at.timestamp(),
    )
    return outline(answer)
