"""Two apps write the same words down, because one may not import the other: they must agree."""

from enum import StrEnum

import pytest
from django.db.models import TextChoices
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core import target, words
from incidents import choices, hostnames

PAIRS = [
    (choices.IncidentKind, words.IncidentKind),
    (choices.VerdictClass, words.VerdictClass),
    (choices.TargetKind, words.TargetKind),
    (choices.SuspectRole, words.Role),
    (choices.Action, words.Action),
    (choices.EvidenceKind, words.EvidenceKind),
]


@pytest.mark.parametrize(("stored", "spoken"), PAIRS)
def test_records_store_the_words_that_the_engine_speaks(
    stored: type[TextChoices], spoken: type[StrEnum]
):
    assert stored.values == [word.value for word in spoken]


@given(st.text() | st.from_regex(r"[A-Za-z0-9.:-]{0,30}", fullmatch=True))
def test_both_normalise_host_names_alike(name: str):
    assert hostnames.normalise_host(name) == target.normalise_host(name)
