"""What kubectl prints becomes placements."""

import json
from typing import Any

import pytest
from aegis_register.api import Registration, RegistrationError
from aegis_register.kubernetes import registration_of
from aegis_register.pods import by_job, read_pods
from hypothesis import given
from hypothesis import strategies as st

KUBEFLOW = "training.kubeflow.org/"
JOBSET = "jobset.sigs.k8s.io/"
BATCH = "batch.kubernetes.io/"


def pod(
    name: str,
    node: str | None,
    labels: dict[str, str],
    *,
    gpus: int = 2,
    env: dict[str, str] | None = None,
    phase: str = "Running",
    created: str = "2026-03-01T12:00:00Z",
) -> dict[str, Any]:
    """One pod as the API shows it."""
    limits = {"nvidia.com/gpu": str(gpus), "cpu": "64"} if gpus else {"cpu": "1"}
    variables = [{"name": key, "value": value} for key, value in (env or {}).items()]
    ended = {"terminated": {"exitCode": 0, "finishedAt": "2026-03-01T14:00:00Z"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "uid": f"uid-{name}",
            "creationTimestamp": created,
            "labels": labels,
        },
        "spec": {
            **({"nodeName": node} if node else {}),
            "containers": [{"name": "main", "env": variables, "resources": {"limits": limits}}],
        },
        "status": {
            "phase": phase,
            "startTime": "2026-03-01T12:00:05Z",
            "containerStatuses": [
                {"state": ended if phase in {"Succeeded", "Failed"} else {"running": {}}}
            ],
        },
    }


def pytorchjob(kind: str, index: int, node: str | None, **more: Any) -> dict[str, Any]:
    labels = {f"{KUBEFLOW}job-name": "llama", f"{KUBEFLOW}replica-type": kind}
    labels[f"{KUBEFLOW}replica-index"] = str(index)
    return pod(f"llama-{kind}-{index}", node, labels, **more)


def listed(*pods: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": pods})


def registered(*pods: dict[str, Any], **options: Any) -> Registration:
    (job, members), *rest = by_job(read_pods(listed(*pods))).items()
    assert rest == []
    return registration_of(job, members, **options)


def hosts(registration: Registration) -> list[tuple[int, str, int]]:
    return [(p["rank"], p["host"], p["local_rank"]) for p in registration.placement]


def test_the_master_comes_before_the_workers() -> None:
    found = registered(
        pytorchjob("worker", 1, "n3"), pytorchjob("master", 0, "n1"), pytorchjob("worker", 0, "n2")
    )
    assert hosts(found) == [
        (0, "n1", 0),
        (1, "n1", 1),
        (2, "n2", 0),
        (3, "n2", 1),
        (4, "n3", 0),
        (5, "n3", 1),
    ]


def test_a_job_is_known_by_its_namespace_and_name() -> None:
    assert registered(pytorchjob("master", 0, "n1"), cluster="eu").job == {
        "external_id": "team-a/llama",
        "source": "kubernetes",
        "cluster": "eu",
        "name": "llama",
    }


def test_the_environment_s_index_wins_over_labels() -> None:
    first = pytorchjob("worker", 0, "n1", env={"PET_NODE_RANK": "1"})
    second = pytorchjob("worker", 1, "n2", env={"PET_NODE_RANK": "0"})
    assert [host for _, host, _ in hosts(registered(first, second))][::2] == ["n2", "n1"]


def test_processes_per_pod_win_over_gpus() -> None:
    env = {"PET_NPROC_PER_NODE": "3"}
    assert len(registered(pytorchjob("master", 0, "n1", env=env)).placement) == 3
    assert len(registered(pytorchjob("master", 0, "n1"), ranks_per_pod=1).placement) == 1


def test_a_jobset_tells_its_attempt_and_its_jobs_come_in_order() -> None:
    def member(job: str, completion: str, node: str) -> dict[str, Any]:
        labels = {
            f"{JOBSET}jobset-name": "gpt",
            f"{JOBSET}job-index": job,
            f"{JOBSET}restart-attempt": "2",
            f"{BATCH}job-name": f"gpt-{job}",
            f"{BATCH}job-completion-index": completion,
        }
        return pod(f"gpt-{job}-{completion}", node, labels, gpus=1)

    found = registered(member("1", "0", "n3"), member("0", "1", "n2"), member("0", "0", "n1"))
    assert found.attempt == 3
    assert [host for _, host, _ in hosts(found)] == ["n1", "n2", "n3"]


def test_a_pod_that_was_replaced_is_left_out() -> None:
    labels = {f"{BATCH}job-name": "j", f"{BATCH}job-completion-index": "0"}
    failed = pod("a", "bad", labels, phase="Failed", created="2026-03-01T13:00:00Z")
    assert {h for _, h, _ in hosts(registered(failed, pod("b", "good", labels)))} == {"good"}


def test_helpers_without_gpu_are_left_out() -> None:
    launcher = pytorchjob("launcher", 0, "cpu-1", gpus=0)
    assert {h for _, h, _ in hosts(registered(launcher, pytorchjob("worker", 0, "n1")))} == {"n1"}


def test_a_job_has_ended_when_all_its_pods_have() -> None:
    done = pytorchjob("master", 0, "n1", phase="Succeeded")
    broken = pytorchjob("worker", 0, "n2", phase="Failed")
    running = pytorchjob("worker", 0, "n2")
    assert registered(done, running).outcome is None
    assert registered(done).outcome == "completed"
    assert registered(done, broken).outcome == "failed"
    assert registered(done, broken).ended_at == "2026-03-01T14:00:00Z"


def test_the_same_pods_make_the_same_attempt_and_others_another() -> None:
    one, two = pytorchjob("master", 0, "n1"), pytorchjob("worker", 0, "n2")
    assert registered(one, two).key == registered(two, one).key != registered(one).key


def test_several_jobs_are_told_apart_and_other_pods_passed_over() -> None:
    other = pod("x", "n9", {"job-name": "other", f"{BATCH}job-completion-index": "0"})
    stranger = pod("web", "n8", {"app": "web"})
    jobs = by_job(read_pods(listed(pytorchjob("master", 0, "n1"), other, stranger)))
    assert sorted(jobs) == ["team-a/llama", "team-a/other"]


@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        ([pytorchjob("master", 0, "n1"), pytorchjob("worker", 0, None)], "1 of 2 pods"),
        ([pytorchjob("master", 0, "n1", gpus=0)], "--ranks-per-pod"),
        ([pod("a", "n1", {"job-name": "j"}), pod("b", "n2", {"job-name": "j"})], "its index"),
    ],
)
def test_what_gives_no_placement_is_refused(pods: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(RegistrationError, match=reason):
        registered(*pods)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"items": 3}', '{"items": [{}]}', '{"kind": "Pod"}']
)
def test_what_kubectl_never_prints_is_refused(text: str) -> None:
    with pytest.raises(RegistrationError, match="not what"):
        read_pods(text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["metadata", "spec", "status", "labels", "containers", "items", "kind"]
                ),
                inner,
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_is_pods_or_refused(given_json: object) -> None:
    try:
        read_pods(json.dumps(given_json))
    except RegistrationError:
        return
