import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.simulator.writers.torch_pickle import SharedDict, dumps
from tests.conftest import cases_dir
from tests.diagnosis.simulator.dumps import load

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc", max_size=4), inner),
    max_leaves=20,
)


@settings(max_examples=60)
@given(st.dictionaries(st.text("abcdef", max_size=6), PLAIN))
def test_what_is_written_reads_back_the_same(value):
    assert load(dumps(value)) == value


def test_more_strings_than_a_byte_counts_read_back_the_same():
    value = {f"name {n}": [f"name {n}", n] for n in range(700)}
    assert load(dumps(value)) == value


def test_a_shared_dictionary_is_written_once():
    frame = SharedDict(name="forward", filename="model.py", line=7)
    content = dumps({"frames": [frame, frame, frame]})
    assert content.count(b"model.py") == 1
    assert load(content)["frames"] == [frame] * 3


def test_what_a_dump_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="set"):
        dumps({"ranks": {1, 2}})


def test_real_dumps_written_anew_give_the_same_bytes():
    recorded = sorted(cases_dir().glob("flight_recorder_nvrx/*/_dump_*"))
    assert recorded
    assert [path for path in recorded if dumps(load(path.read_bytes())) != path.read_bytes()] == []
