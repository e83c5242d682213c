import pytest

from diagnosis.taxonomy.patterns import PatternError, check_pattern, compile_re2


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "empty"),
        ("(?=ahead)x", "look-ahead"),
        ("(?<!behind)x", "negative look-behind"),
        ("(?P<a>x)(?P=a)", "back references"),
        ("(unclosed", r"missing \): \(unclosed"),
        ("x*", "empty line"),
        ("^", "empty line"),
        ("one\ntwo", "line break"),
        (r"x\Z", r"instead of \\A"),
        ("(?P<a>x)(?P<a>y)", "two groups have one name"),
        ("x" * 2001, "longer than"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_reason(
    pattern: str, reason: str
) -> None:
    with pytest.raises(PatternError, match=reason):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"Xid \d+", r"^RuntimeError: ", "größer als", r"\\Anything"])
def test_a_usable_pattern_is_accepted(pattern: str) -> None:
    check_pattern(pattern)


def test_a_refused_pattern_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="RE2"):
        check_pattern("(")


def test_a_pattern_that_explodes_when_backtracking_is_harmless() -> None:
    assert compile_re2(r"(a+)+$").search(b"a" * 50_000 + b"!") is None


def test_patterns_match_text_that_is_no_utf8() -> None:
    assert compile_re2(r"caf. error").search(b"caf\xe9 error")
