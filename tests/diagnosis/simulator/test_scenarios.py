"""What each scenario leaves behind, and the truth about it."""

import re
from functools import cache

import pytest

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.readers.kinds import kind_of
from diagnosis.readers.placement import read_placement
from diagnosis.simulator.scenarios import SCENARIOS, simulate
from diagnosis.simulator.simulation import Simulation
from tests.diagnosis.simulator.dumps import dump_names, dumps_of, logs_of

TIMEOUT_S = 600


@cache
def told(name: str) -> Simulation:
    return simulate(name, seed=6, hosts=3)


def log_of(simulation: Simulation, rank: int) -> str:
    return simulation.files[f"rank-{rank}.log"].decode()


def culprit_log(simulation: Simulation) -> str:
    return log_of(simulation, simulation.truth.culprits[0])


def kernel_log(simulation: Simulation, host: str) -> str:
    return simulation.files[f"{host}.dmesg.log"].decode()


def culprit_kernel(simulation: Simulation) -> str:
    return kernel_log(simulation, simulation.truth.culprit_hosts[0])


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_arguments_give_the_same_bytes(name):
    first, second = (simulate(name, seed=11, hosts=2) for _ in range(2))
    assert dict(first.files) == dict(second.files)
    assert first.truth == second.truth


def test_another_seed_gives_another_incident():
    first, second = (simulate("hang_compute", seed=seed, hosts=2) for seed in (1, 2))
    assert dict(first.files) != dict(second.files)


def test_files_do_not_depend_on_the_order_in_which_they_are_made():
    backwards = simulate("cuda_oom", seed=3, hosts=2).files
    made = {name: backwards[name] for name in reversed(list(backwards))}
    assert made == dict(simulate("cuda_oom", seed=3, hosts=2).files)


@pytest.mark.parametrize("name", SCENARIOS)
def test_evidence_is_of_a_kind_that_the_engine_knows(name):
    kinds = {kind_of(item) for item in told(name).evidence()}
    assert kinds == {"flight-recorder", "log", "placement", "topology"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_placement_file_reads_back_as_the_placement(name):
    assert read_placement(told(name).files["placement.json"]) == told(name).placement


@pytest.mark.parametrize("name", SCENARIOS)
def test_culprits_stand_on_their_hosts_and_are_no_victims(name):
    truth, placement = told(name).truth, told(name).placement
    assert {placement.host_of(rank) for rank in truth.culprits} == set(truth.culprit_hosts)
    assert not set(truth.culprits) & set(truth.victims)
    assert not set(truth.culprit_hosts) & set(truth.must_not_isolate)


@pytest.mark.parametrize("name", SCENARIOS)
def test_only_a_healthy_job_has_no_onset(name):
    truth = told(name).truth
    assert (truth.onset is None) == (truth.cls is VerdictClass.HEALTHY)


@pytest.mark.parametrize("name", ["hang_compute", "missing_dump", "gpu_fallen_off_bus"])
def test_peers_report_a_timeout_ten_minutes_later_and_the_culprit_does_not(name):
    simulation = told(name)
    assert "Watchdog caught" not in culprit_log(simulation)
    texts = [log_of(simulation, rank) for rank in simulation.truth.victims]
    waited = [int(n) for text in texts for n in re.findall(r"ran for (\d+) milliseconds", text)]
    assert waited
    assert all(TIMEOUT_S * 1000 < ms < (TIMEOUT_S + 1) * 1000 for ms in waited)


def test_the_log_of_a_hanging_rank_says_nothing_but_that_others_asked_for_its_dump():
    text = culprit_log(told("hang_compute"))
    assert "Observed flight recorder dump signal from another rank via TCPStore." in text
    assert "Traceback" not in text


def test_the_kernel_of_a_lost_gpu_names_it_and_its_rank_leaves_no_dump():
    simulation = told("gpu_fallen_off_bus")
    assert f"NVRM: Xid (PCI:{simulation.truth.gpu}): 79, " in culprit_kernel(simulation)
    assert simulation.truth.culprits[0] not in dumps_of(simulation)


@pytest.mark.parametrize("name", ["gpu_fallen_off_bus", "ecc_double_bit", "nvlink_error"])
def test_no_other_host_reports_an_xid(name):
    simulation = told(name)
    for host in simulation.truth.must_not_isolate:
        assert "Xid" not in kernel_log(simulation, host)


@pytest.mark.parametrize(("name", "xid"), [("ecc_double_bit", 48), ("nvlink_error", 74)])
def test_a_gpu_error_stands_in_the_kernel_log_and_ends_the_process(name, xid):
    simulation = told(name)
    assert f"NVRM: Xid (PCI:{simulation.truth.gpu}): {xid}, " in culprit_kernel(simulation)
    assert "torch.AcceleratorError: CUDA error: uncorrectable" in culprit_log(simulation)
    agent = simulation.files[f"{simulation.truth.culprit_hosts[0]}.torchrun.log"].decode()
    assert "exitcode  : -6" in agent


def test_a_killed_process_is_named_by_its_launcher_alone():
    simulation = told("process_killed")
    (rank,), (host,) = simulation.truth.culprits, simulation.truth.culprit_hosts
    agent = simulation.files[f"{host}.torchrun.log"].decode()
    assert f"failed (exitcode: -9) local_rank: {rank % 8} " in agent
    assert "Traceback" not in culprit_log(simulation)
    assert "Killed process" not in culprit_kernel(simulation)


def test_a_launcher_takes_the_other_ranks_of_the_host_down_and_their_dumps_with_them():
    simulation = told("process_killed")
    on_host = set(simulation.placement.ranks_by_host[simulation.truth.culprit_hosts[0]])
    assert not on_host & set(dumps_of(simulation))


def test_under_srun_the_other_ranks_of_the_host_live_on():
    simulation = simulate("process_killed", seed=6, hosts=3, launcher="srun", log_form="job")
    assert len(dump_names(simulation)) == 23
    (log,) = (simulation.files[name].decode() for name in simulation.files if "slurm" in name)
    (rank,), (host,) = simulation.truth.culprits, simulation.truth.culprit_hosts
    assert f"srun: error: {host}: task {rank}: Killed" in log


def test_a_kernel_that_kills_for_memory_says_so():
    simulation = told("host_oom")
    pid = simulation.run.job.cluster.pid_of(simulation.truth.culprits[0])
    assert f"Out of memory: Killed process {pid} (python3.11)" in culprit_kernel(simulation)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("cuda_oom", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"),
        ("python_exception", "RuntimeError: The size of tensor a (4096) must match"),
    ],
)
def test_a_failing_program_has_its_traceback_on_one_rank_alone(name, error):
    simulation = told(name)
    speaking = [name for name, text in logs_of(simulation).items() if error in text]
    assert speaking == [f"rank-{simulation.truth.culprits[0]}.log"]


def test_an_exception_tears_the_library_down_on_connected_ranks_of_other_hosts():
    simulation = told("python_exception")
    (rank,) = simulation.truth.culprits
    reset = [
        name
        for name, text in logs_of(simulation).items()
        if "Connection reset by peer" in text and "ncclRemoteError" in text
    ]
    assert reset
    host = simulation.placement.host_of(rank)
    ranks = [int(name.removeprefix("rank-").removesuffix(".log")) for name in reset]
    assert host not in {simulation.placement.host_of(other) for other in ranks}


def test_a_lost_link_shows_in_kernel_and_library_at_its_own_end_and_as_retries_at_the_other():
    simulation = told("ib_link_down")
    assert simulation.truth.link is not None
    host, device = simulation.truth.link.split("/")
    nic = simulation.run.job.cluster.nic_of(simulation.truth.culprits[0])
    assert f"mlx5_core {nic.pci} {nic.netdev}: Link down" in kernel_log(simulation, host)
    assert f"NET/IB : {device}:1 Got non-fatal async event: port error" in culprit_log(simulation)
    address = simulation.run.job.cluster.host_of(simulation.truth.culprits[0]).address
    blaming = [
        name
        for name, text in logs_of(simulation).items()
        if re.search(rf"completion from peer {re.escape(address)}<\d+> with status=12 ", text)
    ]
    assert blaming


def test_a_storage_fault_fails_every_writer_alike_and_blames_no_host():
    simulation = told("storage_stale_handle")
    failing = [name for name, text in logs_of(simulation).items() if "[Errno 116] Stale" in text]
    layout = simulation.run.job.layout
    assert len(failing) == layout.tp * layout.pp
    assert simulation.truth.culprits == ()
    assert simulation.truth.must_not_isolate == ("*",)


def test_a_lost_dump_is_a_victims_on_another_host():
    simulation = told("missing_dump")
    (lost,) = set(range(24)) - set(dumps_of(simulation))
    assert lost in simulation.truth.victims
    assert simulation.placement.host_of(lost) not in simulation.truth.culprit_hosts


def test_a_straggler_lengthens_the_iterations_from_its_onset_on():
    simulation = told("slow_rank")
    times = [float(n) for n in re.findall(r"iteration \(ms\): ([\d.]+)", log_of(simulation, 23))]
    assert min(times[3:]) > 1.2 * times[1]


@pytest.mark.parametrize("name", ["healthy", "healthy_midrun"])
def test_a_healthy_job_has_no_word_of_a_fault_in_its_logs(name):
    text = "\n".join(logs_of(told(name)).values())
    assert not re.search(r"Xid|Traceback|Watchdog caught|NCCL WARN|exitcode|Link down", text)


@pytest.mark.parametrize(
    ("name", "kind", "cls", "actions"),
    [
        ("healthy", "none", "healthy", ["none"]),
        ("healthy_midrun", "none", "healthy", ["none"]),
        ("hang_compute", "hang", "distributed", ["isolate-host", "restart-job"]),
        ("missing_dump", "hang", "distributed", ["isolate-host", "restart-job"]),
        ("process_killed", "crash", "distributed", ["restart-job"]),
        ("gpu_fallen_off_bus", "hang", "critical", ["isolate-host", "restart-job"]),
        ("ecc_double_bit", "crash", "critical", ["isolate-host", "restart-job"]),
        ("nvlink_error", "crash", "critical", ["isolate-host", "restart-job"]),
        ("ib_link_down", "crash", "critical", ["check-link", "restart-job"]),
        ("call_mismatch", "hang", "user", ["fix-code"]),
        ("order_deadlock", "hang", "user", ["fix-code"]),
        ("cuda_oom", "crash", "user", ["fix-code"]),
        ("host_oom", "crash", "user", ["fix-code"]),
        ("python_exception", "crash", "user", ["fix-code"]),
        ("storage_stale_handle", "crash", "storage", ["fix-storage"]),
        ("slow_rank", "degradation", "degradation", ["isolate-host"]),
    ],
)
def test_the_truth_says_what_a_right_diagnosis_says(name, kind, cls, actions):
    truth = told(name).truth
    assert (truth.kind, truth.cls) == (IncidentKind(kind), VerdictClass(cls))
    assert [item.action for item in truth.actions] == [Action(action) for action in actions]


def test_an_unknown_scenario_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="no scenario 'meteor'; known are healthy"):
        simulate("meteor", seed=1)


def test_an_unknown_option_is_refused():
    with pytest.raises(ValueError, match="weather"):
        simulate("healthy", seed=1, weather="rain")


def test_a_fault_that_the_layout_cannot_have_is_refused():
    with pytest.raises(ValueError, match="order_deadlock needs a call"):
        simulate("order_deadlock", seed=1, hosts=1, gpus_per_host=4, tp=1)


def test_the_culprit_can_be_chosen():
    assert simulate("hang_compute", seed=1, hosts=2, culprit=9).truth.culprits == (9,)


@pytest.mark.parametrize("how", ["op", "size", "dtype", "skip"])
def test_the_kind_of_mismatch_can_be_chosen(how):
    truth = simulate("call_mismatch", seed=1, hosts=2, mismatch=how).truth
    assert truth.fault == f"call-mismatch-{how}"
