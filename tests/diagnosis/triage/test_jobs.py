from diagnosis.core.words import VerdictClass
from tests.diagnosis.triage.judged import isolated, judged

ECC = "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"


def test_one_uncorrectable_error_resets_and_isolates_nobody() -> None:
    assert isolated(judged({"job-1.node-13.log": ECC})) == []


def test_the_same_error_in_several_jobs_isolates_their_common_host() -> None:
    files = {"job-1.node-13.log": ECC, "job-2.node-13.log": ECC, "job-3.node-14.log": "step 1\n"}
    conclusion = judged(files)
    assert isolated(conclusion) == ["node-13"]
    assert conclusion.decisive


def test_the_same_error_on_two_hosts_in_two_jobs_isolates_neither() -> None:
    assert isolated(judged({"job-1.node-13.log": ECC, "job-2.node-14.log": ECC})) == []


def test_the_same_bug_in_several_jobs_on_one_host_stays_the_users() -> None:
    text = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    conclusion = judged({"job-1.node-13.log": text, "job-2.node-13.log": text})
    assert (conclusion.verdict.cls, isolated(conclusion)) == (VerdictClass.USER, [])


def test_jobs_that_fail_for_different_reasons_are_both_told() -> None:
    conclusion = judged({"job-1.node-13.log": ECC, "job-2.node-14.log": "KeyError: 'x'\n"})
    assert conclusion.verdict.cls is VerdictClass.CRITICAL
    assert "job 2" in conclusion.verdict.summary
    assert {one.target.kind.value for one in conclusion.suspects} == {"gpu", "user-code"}


def test_the_log_of_a_host_counts_for_every_job() -> None:
    files = {
        "job-1.node-13.log": "step 1\n",
        "job-2.node-13.log": "step 1\n",
        "node-13.dmesg.log": "[   70.000000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, lost\n",
    }
    assert isolated(judged(files)) == ["node-13"]
