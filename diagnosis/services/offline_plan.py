"""What comes next in an offline diagnosis: its next round, or its answer."""

from typing import Any

import numpy as np
from django.utils import timezone

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.topology import HostWiring, Topology
from diagnosis.core.words import Role
from diagnosis.models import OfflineDiagnosis, RunState
from diagnosis.offline.history import Answered, Purpose, Round
from diagnosis.offline.layout import Layout
from diagnosis.offline.planner import Planner
from diagnosis.offline.verdict import Judge, OfflineAnswer
from diagnosis.services.own_answers import store_answer
from incidents.choices import IncidentKind, Severity
from incidents.roles import Actor
from incidents.services.opening import open_incident

PLANNER = Actor.system("the offline diagnosis")


def layout_of(diagnosis: OfflineDiagnosis) -> Layout:
    """The hosts' places as they were when the diagnosis began."""
    return Layout.of(
        Topology(
            tuple(
                HostWiring(row["name"], row["pod"] or None, tuple(row["tor"]))
                for row in diagnosis.topology
            )
        )
    )


def round_of(layout: Layout, row: dict[str, Any]) -> Round:
    """A round as the records keep it."""
    groups = tuple(
        np.array([layout.index_of(name) for name in group], dtype=np.int64)
        for group in row["groups"]
    )
    return Round(groups, Purpose(row["purpose"]))


def plan(diagnosis: OfflineDiagnosis) -> None:
    """Adds the next round, or the answer, within the caller's transaction."""
    layout = layout_of(diagnosis)
    answered = [
        Answered.of(round_of(layout, row), row["results"])
        for row in diagnosis.rounds
        if row["results"] is not None
    ]
    planner = Planner.of(layout, answered)
    asked = planner.next_round()
    if asked is not None:
        diagnosis.rounds.append(
            {"purpose": asked.purpose.value, "groups": asked.names(layout), "results": None}
        )
    else:
        _end(diagnosis, Judge(planner).answer())
    diagnosis.save()


def _end(diagnosis: OfflineDiagnosis, found: OfflineAnswer) -> None:
    diagnosis.state, diagnosis.finished_at = RunState.DONE, timezone.now()
    diagnosis.answer = {
        "verdict": found.verdict.to_dict(),
        "suspects": [suspect.to_dict() for suspect in found.suspects],
        "recommendations": [one.to_dict() for one in found.recommendations],
        "trace": list(found.trace),
    }
    if diagnosis.incident is None and any(one.role == Role.CULPRIT for one in found.suspects):
        hosts = [one.target.host for one in found.suspects if one.target.host]
        diagnosis.incident, _ = open_incident(
            actor=PLANNER,
            title=f"{diagnosis}: {found.verdict.summary}",
            kind=IncidentKind.CHECK,
            severity=Severity.MEDIUM,
            dedup_key=f"offline:{diagnosis.pk}",
            hosts=hosts,
            cluster=diagnosis.cluster.name,
        )
    if diagnosis.incident is not None:
        answer = Diagnosis(
            found.verdict, found.suspects, found.recommendations, found.trace, (), "offline-plan"
        )
        store_answer(
            actor=PLANNER, incident=diagnosis.incident, answer=answer, owner=str(diagnosis)
        )
