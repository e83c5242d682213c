"""Words that incidents are found by: millions of rows, written as the database likes it best."""

from collections.abc import Iterable

from django.db import connection, transaction

_COPY = "COPY incidents_searchterm (incident_id, term) FROM STDIN"
_INSERT = "INSERT INTO incidents_searchterm (incident_id, term) VALUES (%s, %s)"


def write_terms(rows: Iterable[tuple[int, str]]) -> None:
    """Incident's key and word, into the table of words."""
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(_COPY) as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            cursor.executemany(_INSERT, list(rows))
