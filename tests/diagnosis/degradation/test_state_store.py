"""A detector's state survives being stored."""

import pytest

from diagnosis.degradation.detector import Detector
from diagnosis.degradation.state_store import StateError, pack_state, read_state
from tests.diagnosis.degradation.windows import calm_window, slowed


@pytest.mark.parametrize("hosts", [8, 32])
def test_a_stored_state_goes_on_as_if_it_had_been_kept(hosts: int) -> None:
    window = slowed(calm_window(hosts=hosts), 5, at=120, by=0.2)
    detector = Detector()
    kept = detector.start(window.between(window.time[0], window.time[59]))
    kept, _ = detector.advance(kept, window.between(window.time[60], window.time[124]))
    stored = read_state(pack_state(kept))
    after = window.between(window.time[125], window.time[-1])
    _, as_kept = detector.advance(kept, after)
    _, as_stored = detector.advance(stored, after)
    assert as_kept.suspects == as_stored.suspects
    assert as_kept.suspects[0].alarm_time is not None


def test_alarms_are_stored() -> None:
    window = slowed(calm_window(hosts=16), 5, at=120, by=0.2)
    detector = Detector()
    state = detector.start(window.between(window.time[0], window.time[59]))
    state, before = detector.advance(state, window.between(window.time[60], window.time[-1]))
    nothing = window.between(0, 0)
    _, after = detector.advance(read_state(pack_state(state)), nothing)
    assert after.suspects == before.suspects


def test_a_thousand_hosts_fit_a_row() -> None:
    window = calm_window(hosts=1000, samples=60)
    assert len(pack_state(Detector().start(window))) < 25 * 4 * 1000 * len(window.metrics)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04K\x01."])
def test_what_is_no_state_is_refused(content: bytes) -> None:
    with pytest.raises(StateError):
        read_state(content)


def test_a_damaged_state_is_refused() -> None:
    content = bytearray(pack_state(Detector().start(calm_window())))
    with pytest.raises(StateError):
        read_state(bytes(content[: len(content) // 2]))
