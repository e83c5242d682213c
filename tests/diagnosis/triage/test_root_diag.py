import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.words import Role
from tests.diagnosis.triage.judged import isolated, judged


def closed(reporter: str, peer: str, code: str = "closed", pid: int = 1) -> str:
    """A line in which `reporter` lost its connection to `peer`."""
    words = {
        "closed": f"NCCL WARN Net : Connection closed by remote peer {peer}<4123>",
        "retry": f"NCCL WARN NET/IB : Got completion from peer {peer}<4123> with error 12, x",
    }
    return f"{reporter}:{pid}:200 [0] {words[code]}\n"


def test_the_host_that_three_reporters_name_is_isolated() -> None:
    text = "".join(closed(f"node-0{number}", "node-09") for number in (1, 2, 3))
    conclusion = judged({"train.log": text})
    assert isolated(conclusion) == ["node-09"]
    assert conclusion.suspects[0].role is Role.CULPRIT


def test_two_reporters_are_not_enough() -> None:
    text = closed("node-01", "node-09") + closed("node-02", "node-09")
    assert isolated(judged({"train.log": text})) == []


def test_many_connections_of_one_pair_count_once() -> None:
    text = "".join(closed("node-01", "node-09", pid=pid) for pid in range(8))
    assert isolated(judged({"train.log": text})) == []


def test_a_host_whose_connections_all_fail_is_the_root_though_it_reports_them_itself() -> None:
    text = "".join(closed("node-09", f"node-0{number}", "retry") for number in (1, 2, 3, 4))
    text += closed("node-01", "node-09", "retry") + closed("node-02", "node-09", "retry")
    assert isolated(judged({"train.log": text})) == ["node-09"]


def test_a_pair_that_times_out_is_a_link_and_nobody_is_isolated() -> None:
    text = closed("node-01", "node-02", "retry") + closed("node-02", "node-01", "retry")
    conclusion = judged({"train.log": text})
    assert conclusion.suspects[0].target.kind.value == "link"
    assert isolated(conclusion) == []


def test_the_one_who_reports_a_closed_connection_is_the_victim() -> None:
    roles = {
        one.target.host: one.role
        for one in judged({"train.log": closed("node-01", "node-02")}).suspects
    }
    assert roles == {"node-02": Role.POSSIBLE, "node-01": Role.VICTIM}


def test_addresses_become_hosts_where_a_line_tells_whose_they_are() -> None:
    text = "node-09:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.9<0>\n"
    text += "".join(closed(f"node-0{number}", "10.0.0.9") for number in (1, 2, 3))
    assert isolated(judged({"train.log": text})) == ["node-09"]


@pytest.mark.parametrize("own", ["127.0.0.1", "127.0.1.1", "localhost"])
def test_the_address_of_each_machine_for_itself_is_no_host(own: str) -> None:
    text = "".join(closed(f"node-0{number}", own) for number in (1, 2, 3))
    conclusion = judged({"train.log": text})
    assert isolated(conclusion) == []
    assert own not in {one.target.name for one in conclusion.suspects}


def test_store_connections_are_left_out() -> None:
    text = "".join(
        f"[rank{rank}]: torch.distributed.DistNetworkError: Connection reset by peer\n"
        for rank in range(6)
    )
    assert judged({"train.log": text}).suspects == ()


@pytest.mark.parametrize("code", ["closed", "retry"])
@given(names=st.permutations(["node-01", "node-02", "node-03", "node-09"]))
def test_the_root_does_not_depend_on_names(code: str, names: list[str]) -> None:
    root, *others = names
    text = "".join(closed(other, root, code) for other in others)
    assert isolated(judged({"train.log": text})) == [root]
