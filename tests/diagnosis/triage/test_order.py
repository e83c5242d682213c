from hypothesis import given
from hypothesis import strategies as st

from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.clues import Clue, Moment, is_before
from diagnosis.triage.order import Order
from diagnosis.triage.places import Place

SIGNATURE = Taxonomy.default().signatures[0]
MOMENTS = st.none() | st.builds(
    Moment, st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from(["utc", "yearless", "uptime a"])
)
CLUES = st.builds(
    lambda log, line, moment: Clue(
        SIGNATURE, Place(), log, line=line, offset=0, lines=1, text="", context="", moment=moment
    ),
    st.sampled_from("ab"),
    st.integers(1, 4),
    MOMENTS,
)


@given(st.lists(CLUES, max_size=6), CLUES)
def test_all_together_tell_what_each_of_them_tells(others: list[Clue], clue: Clue) -> None:
    order = Order(others)
    assert order.any_before(clue) == any(is_before(other, clue) is True for other in others)
    assert order.any_unsure(clue) == any(is_before(clue, other) is None for other in others)
