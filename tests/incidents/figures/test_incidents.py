"""Figures of incidents."""

from dataclasses import fields

from incidents.figures.incidents import Counted, figures_of


def counted(*incidents: dict[str, object]) -> Counted:
    """Incidents on eight GPUs that lost an hour, apart from what is given."""
    usual = {"opened": 0.0, "lost_s": 3600.0, "idle_s": 3600.0, "gpu_count": 8, "located": False}
    names = [one.name for one in fields(Counted)]
    return Counted.of(
        [tuple({**usual, **given}.get(name) for name in names) for given in incidents]
    )


def test_time_lost_to_diagnosis_is_a_median_and_a_sum() -> None:
    found = figures_of(counted({"lost_s": 60.0}, {"lost_s": 120.0}, {"lost_s": 7200.0}))

    assert (found.diagnosis_s, found.diagnosis_hours) == (120.0, 2.05)


def test_a_clock_that_runs_backwards_loses_nothing() -> None:
    assert figures_of(counted({"lost_s": -60.0, "idle_s": -60.0})).diagnosis_s == 0


def test_gpu_hours_are_gpus_times_the_hours_that_they_stood_idle() -> None:
    assert figures_of(counted({"idle_s": 1800.0})).gpu_hours == 4


def test_the_located_share_is_of_all_incidents() -> None:
    found = counted({"located": True}, {}, {}, {})

    assert figures_of(found).located == 0.25


def test_precision_is_of_decided_incidents_alone() -> None:
    found = figures_of(counted({"right": True, "place": 1}, {"right": False, "place": 0}, {}))

    assert (found.precision.right, found.precision.decided, found.top1) == (1, 2, 0.5)


def test_no_incident_has_no_medians() -> None:
    none = figures_of(counted())

    assert (none.diagnosis_s, none.located, none.top1, none.gpu_hours) == (None, None, None, 0)
