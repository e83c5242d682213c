"""Words of texts and queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.search_terms import LONGEST, terms_of, wanted_terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("node-017", "node-017"),
        ("node-017", "017"),
        ("node017", "017"),
        ("LLM-70B-pretrain", "70b-pretrain"),
        ("gpu-fallen-off-bus", "fallen-off-bus"),
        ("NVRM: Xid (PCI:0000:c1:00): 79, pid=4711", "4711"),
        ("GPU has fallen off the bus.", "bus"),
        ("mlx5_0", "mlx5_0"),
    ],
)
def test_a_text_is_found_by_its_words_and_their_later_parts(text: str, term: str):
    assert term in terms_of([text])


def test_a_host_is_asked_for_however_it_is_spelt():
    assert wanted_terms("Node-017.cluster.local") == [
        frozenset({"node-017.cluster.local", "node-017"})
    ]


def test_every_word_of_a_query_is_asked_for():
    assert wanted_terms("uncorrectable ECC") == [frozenset({"uncorrectable"}), frozenset({"ecc"})]


@given(st.text(max_size=400))
def test_any_text_gives_terms_that_fit(text: str):
    assert all(1 < len(term) <= LONGEST for term in terms_of([text]))


@given(st.text(alphabet="abcxyz0189", min_size=2, max_size=30))
def test_a_word_is_found_by_itself(word: str):
    (wanted,) = wanted_terms(word)
    assert wanted & set(terms_of([f"before {word}, after"]))
