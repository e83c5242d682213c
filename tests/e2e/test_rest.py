"""The main job over REST, in the embedded and in the server set-up."""

import time

import httpx

from diagnosis.simulator.scenarios import simulate
from tests.e2e.instances import Instance
from tests.e2e.journeys import PATIENCE, diagnose, finished_diagnosis, open_incident, upload


def test_a_hang_ends_with_the_rank_that_did_not_arrive(api: httpx.Client) -> None:
    hang = simulate("hang_compute", seed=3, hosts=2)

    answer = diagnose(api, hang, title="it hangs")

    assert answer["state"] == "done"
    top = answer["suspects"][0]
    assert (top["role"], top["target"]["rank"]) == ("culprit", hang.truth.culprits[0])
    assert top["target"]["host"] == hang.truth.culprit_hosts[0]


def test_a_crash_by_hardware_ends_with_the_host_to_isolate(api: httpx.Client) -> None:
    crash = simulate("gpu_fallen_off_bus", seed=4, hosts=2)

    answer = diagnose(api, crash, title="it crashed")

    assert answer["verdict"]["class"] == "critical"
    isolated = [
        r["target"]["host"] for r in answer["recommendations"] if r["action"] == "isolate-host"
    ]
    assert isolated == list(crash.truth.culprit_hosts)


def test_files_that_cannot_be_read_are_named_and_fail_nothing_beside_them(
    api: httpx.Client,
) -> None:
    hang = simulate("hang_compute", seed=5, hosts=2)
    cut = bytes(hang.files["comm_lib_trace_rank_0"])[:200]
    calls = b"cos\nsystem\n(S'true'\ntR."
    claims = b"\x80\x02\x8d" + (8 * 1024**3).to_bytes(8, "little") + b"x."
    broken = {
        "comm_lib_trace_rank_0": cut,
        "comm_lib_trace_rank_90": b"\x80\x02" + calls,
        "comm_lib_trace_rank_91": claims,
        "comm_lib_trace_rank_92": b"",
        "node-777.train.log": "épuisé: mémoire à court\n".encode("latin-1"),
    }
    incident = open_incident(api, title="untidy", kind="hang")

    upload(api, incident, {**hang.files, **broken})
    answer = finished_diagnosis(api, incident)

    assert answer["suspects"][0]["target"]["rank"] == hang.truth.culprits[0]
    skipped = {item["file"]: item["reason"] for item in answer["skipped"]}
    unreadable = {name for name in broken if name.startswith("comm_lib")}
    assert unreadable <= set(skipped)
    assert all(skipped[name] for name in unreadable)
    assert "node-777.train.log" not in skipped


def test_a_worker_killed_in_the_middle_leaves_one_finished_diagnosis(
    server_instance: Instance,
) -> None:
    line = b"[rank0]: step 12 loss 2.31 lr 3e-4 grad_norm 0.91 tokens/s 182731\n"
    crash = simulate("gpu_fallen_off_bus", seed=6, hosts=2)
    with server_instance.api() as api:
        incident = open_incident(api, title="killed in the middle", kind="crash")
        for number in range(4):
            api.post(
                f"incidents/{incident}/evidence",
                params={"name": f"node-00{number}.big.log", "diagnose": "false"},
                headers={"Content-Type": "application/octet-stream"},
                content=line * 1_500_000,
            ).raise_for_status()
        upload(api, incident, crash.files)

        wait_until_running(api, incident)
        server_instance.kill_worker()
        server_instance.start_worker()
        answer = finished_diagnosis(api, incident)
        runs = api.get(f"incidents/{incident}/diagnoses").json()["results"]

    assert answer["state"] == "done"
    assert len(runs) == 1
    assert answer["verdict"]["class"] == "critical"


def wait_until_running(api: httpx.Client, incident: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        runs = api.get(f"incidents/{incident}/diagnoses").json()["results"]
        if runs and runs[0]["state"] == "running":
            return
        assert not runs or runs[0]["state"] == "queued", "it ended before it could be interrupted"
        time.sleep(0.1)  # well below the requests that a token has in a minute
    raise AssertionError("the diagnosis never ran")
