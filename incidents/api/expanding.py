"""Fuller answers: `expand=job,diagnosis` shows records in place of their ids, fetched at once.

One table says what each kind of record can expand; the OpenAPI document is made from it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from incidents import selectors
from incidents.api.problems import InvalidQuery
from incidents.api.serializers.decisions import DecisionSerializer
from incidents.api.serializers.diagnoses import (
    DiagnosisBriefSerializer,
    DiagnosisSerializer,
    RecommendationInListSerializer,
    SuspectInListSerializer,
)
from incidents.api.serializers.events import EventSerializer
from incidents.api.serializers.evidence import EvidenceSerializer
from incidents.api.serializers.executions import ExecutionSerializer
from incidents.api.serializers.incidents import IncidentSerializer
from incidents.api.serializers.jobs import AttemptSerializer, JobSerializer
from incidents.api.serializers.tickets import TicketSerializer
from incidents.choices import DiagnosisState
from incidents.models import Diagnosis

PARAMETER = "expand"


@dataclass(frozen=True, slots=True)
class Expansion:
    """What stands in place of a field: a record by its id, or what belongs to the record itself."""

    serializer: type[BaseSerializer[Any]]
    rows: Callable[[Iterable[int]], QuerySet[Any]]
    own: Callable[[Any], int] | None = None

    def id_in(self, record: Mapping[str, Any], name: str) -> int | None:
        """By which id the fuller record is found."""
        if self.own is not None:
            return int(record["id"])
        value = record.get(name)
        return value.get("id") if isinstance(value, Mapping) else value

    def found(self, ids: Iterable[int]) -> Mapping[int, Any]:
        """The fuller records by that id; those out of reach are not there."""
        return {
            self.own(row) if self.own else row.pk: self.serializer(row).data
            for row in self.rows(ids)
        }


def _by_id(serializer: Any, rows: Callable[[], QuerySet[Any]]) -> Expansion:
    return Expansion(serializer, lambda ids: rows().filter(pk__in=ids))


def _newest_answers(incidents: Iterable[int]) -> QuerySet[Diagnosis]:
    done = Diagnosis.objects.filter(incident__in=incidents, state=DiagnosisState.DONE)
    newest = done.order_by().values("incident").annotate(newest=Max("id")).values("newest")
    return selectors.diagnoses_in_full().filter(pk__in=newest)


_INCIDENT = _by_id(IncidentSerializer, selectors.incident_with_hosts)
_JOB = _by_id(JobSerializer, selectors.jobs)
_ATTEMPT = _by_id(AttemptSerializer, selectors.attempts)
_DIAGNOSIS = _by_id(DiagnosisSerializer, selectors.diagnoses_in_full)
_RECOMMENDATION = _by_id(RecommendationInListSerializer, selectors.recommendations_in_full)
_DECISION = _by_id(DecisionSerializer, selectors.decisions)
_ANSWER = Expansion(DiagnosisSerializer, _newest_answers, own=lambda row: int(row.incident_id))

EXPANSIONS: Mapping[Any, Mapping[str, Expansion]] = {
    IncidentSerializer: {"job": _JOB, "attempt": _ATTEMPT, "diagnosis": _ANSWER},
    AttemptSerializer: {"job": _JOB},
    EvidenceSerializer: {"incident": _INCIDENT},
    EventSerializer: {"incident": _INCIDENT, "job": _JOB},
    TicketSerializer: {"incident": _INCIDENT},
    DiagnosisBriefSerializer: {"incident": _INCIDENT},
    DiagnosisSerializer: {"incident": _INCIDENT},
    SuspectInListSerializer: {"incident": _INCIDENT, "diagnosis": _DIAGNOSIS},
    RecommendationInListSerializer: {"incident": _INCIDENT, "diagnosis": _DIAGNOSIS},
    DecisionSerializer: {
        "incident": _INCIDENT,
        "diagnosis": _DIAGNOSIS,
        "recommendation": _RECOMMENDATION,
    },
    ExecutionSerializer: {
        "incident": _INCIDENT,
        "recommendation": _RECOMMENDATION,
        "decision": _DECISION,
    },
}


def wanted_expansions(request: Request, serializer: object) -> Mapping[str, Expansion]:
    """What the query asks for. Raises `InvalidQuery`, which names what is known here."""
    text = request.query_params.get(PARAMETER)
    if text is None:
        return {}
    known = EXPANSIONS.get(serializer, {})
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        told = f"Known: {', '.join(known)}." if known else "Nothing expands here."
        raise InvalidQuery({PARAMETER: [f"{unknown[0]} cannot be expanded. {told}"]})
    return {name: known[name] for name in names}


def expanded(data: Any, wanted: Mapping[str, Expansion]) -> Any:
    """The data with fuller records in place; of a page or list, those of all rows at once."""
    if not wanted:
        return data
    if isinstance(data, Mapping) and isinstance(data.get("results"), list):
        return {**data, "results": _filled(data["results"], wanted)}
    return _filled([data], wanted)[0] if isinstance(data, Mapping) else data


def _filled(records: list[Any], wanted: Mapping[str, Expansion]) -> list[Any]:
    records = [dict(one) for one in records]
    for name, expansion in wanted.items():
        ids = {pk for one in records if (pk := expansion.id_in(one, name)) is not None}
        found = expansion.found(ids)
        for one in records:
            pk = expansion.id_in(one, name)
            if pk is not None and pk in found:
                one[name] = found[pk]
    return records


def fuller_types(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Says in the document that a field may hold the fuller record."""
    components = result["components"]["schemas"]
    for serializer, expansions in EXPANSIONS.items():
        properties = components.get(_component(serializer), {}).get("properties", {})
        for name, expansion in expansions.items():
            fuller = {"$ref": f"#/components/schemas/{_component(expansion.serializer)}"}
            plain = properties[name]
            kept = {key: plain.pop(key) for key in ("description", "readOnly") if key in plain}
            properties[name] = {"anyOf": [plain, fuller], **kept}
    return result


def _component(serializer: Any) -> str:
    return str(serializer.__name__).removesuffix("Serializer")
