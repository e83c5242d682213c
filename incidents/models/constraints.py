"""Constraints that several records share: the database refuses what must not be written."""

from django.db.models import CheckConstraint, F, Q, TextChoices


def one_of(
    field: str, choices: type[TextChoices], *, name: str, blank: bool = False
) -> CheckConstraint:
    """The field holds one of the choices, or nothing where `blank`."""
    allowed = [*choices.values, *([""] if blank else [])]
    return CheckConstraint(condition=Q(**{f"{field}__in": allowed}), name=name)


def share(field: str, *, name: str, null: bool = False) -> CheckConstraint:
    """The field is a probability, from 0 to 1."""
    condition = Q(**{f"{field}__gte": 0, f"{field}__lte": 1})
    if null:
        condition |= Q(**{f"{field}__isnull": True})
    return CheckConstraint(condition=condition, name=name)


def ordered(first: str, last: str, *, name: str) -> CheckConstraint:
    """Where both times are known, the first is not after the last."""
    condition = (
        Q(**{f"{first}__isnull": True})
        | Q(**{f"{last}__isnull": True})
        | Q(**{f"{first}__lte": F(last)})
    )
    return CheckConstraint(condition=condition, name=name)
