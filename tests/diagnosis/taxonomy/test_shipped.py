import pytest

from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.signature import Signature

SHIPPED = Taxonomy.default()
EXAMPLES = [(one, example) for one in SHIPPED.signatures for example in one.examples]


def test_there_are_all_signatures_and_each_has_an_example() -> None:
    assert len(SHIPPED) >= 311
    assert [one.code for one in SHIPPED.signatures if not one.examples] == []


@pytest.mark.parametrize(("signature", "example"), EXAMPLES, ids=lambda value: str(value)[:40])
def test_every_example_is_won_by_its_own_signature(signature: Signature, example: str) -> None:
    match = SHIPPED.matcher.best(example.encode())
    assert match is not None
    assert match.signature.code == signature.code


def test_every_example_is_found_in_one_pass_over_all_of_them() -> None:
    text = "\n".join(example for _, example in EXAMPLES).encode()
    assert len(list(SHIPPED.matcher.candidates(text))) == len(EXAMPLES)


def test_no_escalation_idea_is_on() -> None:
    on = {one.code for one in SHIPPED.signatures if one.escalates}
    assert on == {
        "cuda-ecc-uncorrectable",
        "xid-63-row-remap-event",
        "xid-92-high-sbe-rate",
        "xid-94-contained-memory-error",
    }


def test_no_signature_of_information_asks_for_action() -> None:
    acting = [
        one.code
        for one in SHIPPED.signatures
        if one.cls.value == "info" and one.action.value not in {"none", "watch"}
    ]
    assert acting == []
