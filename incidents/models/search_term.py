"""The words that an incident is found by."""

from typing import Any, ClassVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler

from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability
from incidents.search_terms import LONGEST

_LAST = "\U0010ffff"


class Begins(models.Lookup[Any]):
    """`term__begins="node-0"`: a prefix, in the form that each database's index answers."""

    lookup_name = "begins"

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        """A pattern: PostgreSQL's `varchar_pattern_ops` index answers it in any collation."""
        column, values = self.process_lhs(compiler, connection)
        return f"{column} LIKE %s", (*values, f"{connection.ops.prep_for_like_query(self.rhs)}%")

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        """A range: SQLite compares bytes, and does not answer LIKE from such an index."""
        column, values = self.process_lhs(compiler, connection)
        first, last = str(self.rhs), f"{self.rhs}{_LAST}"
        return f"({column} >= %s AND {column} < %s)", (*values, first, *values, last)


models.CharField.register_lookup(Begins)


class SearchTerm(models.Model):
    """One word of an incident, from any border in it to its end: `node-017` is there as `017`."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="terms")
    term = models.CharField(max_length=LONGEST)

    objects: ClassVar[models.Manager["SearchTerm"]] = ReachedManager.of_incident("incident")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "term"], name="search_term_once")
        ]
        indexes = [
            models.Index(
                fields=["term", "incident"],
                name="search_term_begins",
                opclasses=["varchar_pattern_ops", "int8_ops"],
            )
        ]

    def __str__(self) -> str:
        return self.term
