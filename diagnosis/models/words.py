"""Words of the core as choices and constraints of the records."""

from enum import StrEnum

from django.db import models


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    """The words as a field's choices."""
    return [(str(word), str(word)) for word in words]


def one_of(field: str, words: type[StrEnum], name: str) -> models.CheckConstraint:
    """The database refuses any other word."""
    allowed = [str(word) for word in words]
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": allowed}), name=name)
