"""What figures count of incidents, computed by the database: a few numbers a row."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import (
    BooleanField,
    DateTimeField,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce, Least

from incidents.figures.incidents import Counted
from incidents.models import Incident


class Epoch(Func):
    """An instant as seconds since 1970, without an object for each row."""

    output_field = FloatField()
    template = "EXTRACT(EPOCH FROM %(expressions)s)::float8"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        """SQLite keeps instants as text; Julian days are good to a tenth of a millisecond."""
        template = "((julianday(%(expressions)s) - 2440587.5) * 86400.0)"
        return super().as_sql(compiler, connection, template=template, **context)


def count(incidents: QuerySet[Incident], *, now: datetime) -> Counted:
    """The incidents as figures count them."""
    began = Epoch(Coalesce("onset_at", "opened_at"))
    decided = ("reckoning__decided_at", "mitigated_at", "resolved_at")
    freed = ("mitigated_at", "resolved_at", "gpus_freed_at")
    columns = (
        Epoch("opened_at"),
        _first_of(decided, now) - began,
        _first_of(freed, now) - began,
        F("gpu_count"),
        Epoch("opened_at") - Epoch("onset_at"),
        Epoch("acknowledged_at") - Epoch("opened_at"),
        Epoch("resolved_at") - Epoch("opened_at"),
        ExpressionWrapper(Q(reckoning__located_at__isnull=False), output_field=BooleanField()),
        F("reckoning__right"),
        F("reckoning__confirmed"),
        F("reckoning__place"),
        F("reckoning__fault"),
    )
    return Counted.of(incidents.order_by().values_list(*columns))


def _first_of(fields: Sequence[str], now: datetime) -> Epoch:
    """The first of these instants, each `now` where it has not come.

    So written because databases differ in what the least of something and nothing is.
    """
    yet_to_come = Value(now, output_field=DateTimeField())
    return Epoch(Least(*[Coalesce(field, yet_to_come) for field in fields]))
