"""ConfigCheck: a difference is the verdict when it is new or fits; drift is a note."""

from diagnosis.core.configuration import Snapshot
from diagnosis.core.diagnosis import Conclusion
from diagnosis.triage.config_check import conclude_configuration
from diagnosis.triage.settings import TriageSettings

USUAL = {"driver": "550.54.15", "mtu.mlx5_0": "4200", "nccl": "2.21.5", "serial": "?"}


def fleet(
    odd: dict[str, str] | None = None, *, hosts: int = 8, time: float = 1.0
) -> list[Snapshot]:
    """Snapshots of `hosts` hosts; node-03 differs in `odd`."""
    return [
        Snapshot(
            f"node-{number:02d}",
            {**USUAL, "serial": str(number), **((odd or {}) if number == 3 else {})},
            f"node-{number:02d}.json",
            time,
        )
        for number in range(1, hosts + 1)
    ]


def concluded(snapshots: list[Snapshot], *symptoms: str) -> Conclusion:
    found = conclude_configuration(snapshots, symptoms, TriageSettings())
    assert found is not None
    return found


def test_a_difference_that_fits_the_symptom_is_the_verdict() -> None:
    found = concluded(fleet({"mtu.mlx5_0": "1024"}), "ccl")
    assert (found.verdict.cls.value, found.suspects[0].target.host) == ("config", "node-03")
    assert [item.action.value for item in found.recommendations] == ["fix-config"]


def test_a_difference_that_is_new_is_the_verdict() -> None:
    found = concluded([*fleet(), *fleet({"driver": "535.1"}, time=2.0)])
    assert (found.verdict.cls.value, "before it was 550.54.15" in found.verdict.summary) == (
        "config",
        True,
    )


def test_new_and_fitting_is_decisive() -> None:
    found = concluded([*fleet(), *fleet({"mtu.mlx5_0": "1024"}, time=2.0)], "nic")
    assert (found.decisive, found.suspects[0].role.value) == (True, "culprit")


def test_old_drift_that_fits_nothing_is_a_note() -> None:
    found = concluded(fleet({"driver": "535.1"}), "filesystem")
    assert (found.verdict.cls.value, found.suspects) == ("unknown", ())
    assert "node-03" in found.verdict.summary


def test_values_that_differ_everywhere_are_no_difference() -> None:
    assert "is alike" in concluded(fleet(), "ccl").verdict.summary


def test_two_hosts_cannot_be_compared() -> None:
    assert conclude_configuration(fleet(hosts=2), ["ccl"], TriageSettings()) is None


def test_half_against_half_names_nobody() -> None:
    half = [
        Snapshot(one.host, {**one.values, "nccl": "2.19.3"} if index % 2 else one.values, one.file)
        for index, one in enumerate(fleet())
    ]
    assert concluded(half, "ccl").suspects == ()


def test_the_order_of_the_files_is_no_matter() -> None:
    snapshots = [*fleet(), *fleet({"mtu.mlx5_0": "1024"}, time=2.0)]
    assert concluded(snapshots, "ccl") == concluded(snapshots[::-1], "ccl")
