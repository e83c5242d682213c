"""How often the rules behind a suspect were right before."""

from collections.abc import Iterable, Mapping, Sequence

from incidents import selectors
from incidents.choices import RuleKind, SuspectRole
from incidents.models import Suspect
from incidents.selectors import RuleRecord
from incidents.services.reckoning import Rule, rules_of


def track_records(
    suspects: Iterable[Suspect], *, incident: int
) -> Mapping[int, Sequence[RuleRecord]]:
    """Suspect's key → the records of its fault and detectors, the fault's first, in one query.

    They are those of other incidents than this one. Victims have none: nobody decides on them.
    """
    rules = {
        one.pk: [] if one.role == SuspectRole.VICTIM else list(rules_of(one)) for one in suspects
    }
    codes = {code for found in rules.values() for _, code in found}
    found = selectors.records_of(codes, beside=incident) if codes else []
    known = {_rule(one): one for one in found}
    return {pk: [known[rule] for rule in found if rule in known] for pk, found in rules.items()}


def _rule(record: RuleRecord) -> Rule:
    return RuleKind(record.kind), record.code
