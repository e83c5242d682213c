import pytest

from diagnosis.simulator.options import Options, parse_option


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ring=50", ("ring", 50)),
        ("fr-version=2.9", ("fr_version", "2.9")),
        ("clock_skew_s=0.5", ("clock_skew_s", 0.5)),
        ("ansi", ("ansi", True)),
        ("stacks=false", ("stacks", False)),
        ("culprit=3", ("culprit", 3)),
    ],
)
def test_an_option_is_read_in_its_type(text, expected):
    assert parse_option(text) == expected


@pytest.mark.parametrize("text", ["weather=rain", "ring=many", "ansi=perhaps"])
def test_an_option_that_makes_no_sense_is_refused(text):
    with pytest.raises(ValueError, match=text.split("=")[0]):
        parse_option(text)


@pytest.mark.parametrize(
    "wrong",
    [{"backend": "mpi"}, {"steps": 0}, {"missing_dumps": 1.0}, {"fr_version": "3.0"}],
)
def test_a_value_out_of_range_is_refused_with_its_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)
