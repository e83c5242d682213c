"""As many points as a screen can show."""

from hypothesis import given
from hypothesis import strategies as st

from incidents.figures.thinning import thinned

POINTS = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=400).map(
    lambda values: [(float(place), value) for place, value in enumerate(values)]
)


@given(POINTS, st.integers(4, 60))
def test_extremes_and_ends_stay(points, most: int) -> None:
    kept = thinned(points, most=most)

    if points:
        assert {min(points, key=lambda p: p[1])[1], max(points, key=lambda p: p[1])[1]} <= {
            value for _, value in kept
        }
        assert (kept[0], kept[-1]) == (points[0], points[-1])


@given(POINTS, st.integers(4, 60))
def test_there_are_never_more_than_asked_for_and_they_are_in_order(points, most: int) -> None:
    kept = thinned(points, most=most)

    assert len(kept) <= most
    assert list(kept) == sorted(kept)
