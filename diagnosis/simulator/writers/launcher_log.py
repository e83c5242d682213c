"""What the launcher on a host says: torchrun's elastic agent, or srun for the whole job."""

import signal
from collections.abc import Iterator

from diagnosis.simulator.cluster import Host
from diagnosis.simulator.endings import Ending, Fate
from diagnosis.simulator.run import Run
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import elastic, torch_python

_API = "torch/distributed/elastic/multiprocessing/api.py"
_SITE = "/opt/venv/lib/python3.11/site-packages/torch/distributed"
_TRACE = f"""Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
             ^^^^^^
  File "{_SITE}/elastic/multiprocessing/errors/__init__.py", line 355, in wrapper
    return f(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^
  File "{_SITE}/run.py", line 919, in main
    run(args)
  File "{_SITE}/run.py", line 910, in run
    elastic_launch(
  File "{_SITE}/launcher/api.py", line 138, in __call__
    return launch_agent(self._config, self._entrypoint, list(args))
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "{_SITE}/launcher/api.py", line 269, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: """
_SCRIPT = "pretrain_gpt.py"
_THREADS = (
    "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid "
    "your system being overloaded, please further tune the variable for optimal performance in "
    "your application as needed."
)


def torchrun_lines(run: Run, host: Host) -> Iterator[Line]:
    """The agent's lines on one host: nothing but its start while its workers live."""
    yield _agent(run, host, -12.0, f"W{{}} torch/distributed/run.py:766] {_THREADS}")
    first = _first_failure(run, host)
    if first is None:
        return
    ending, cluster = run.endings[first], run.job.cluster
    at = ending.at + (1.4 if ending.fate is Fate.EXITED else 3.0)
    for rank in cluster.ranks_of(host):
        if rank != first:
            text = (
                f"W{{}} {_API}:897] Sending process {cluster.pid_of(rank)} closing signal SIGTERM"
            )
            yield _agent(run, host, at, text)
    failed = (
        f"E{{}} {_API}:869] failed (exitcode: {ending.exit_code}) local_rank: "
        f"{cluster.local_rank(first)} (pid: {cluster.pid_of(first)}) of binary: "
        "/opt/venv/bin/python3.11"
    )
    yield _agent(run, host, at + 1.9, failed)
    yield Line(at + 1.91, _TRACE + _summary(run, host, first, at + 1.9))


def _agent(run: Run, host: Host, at: float, text: str) -> Line:
    """A line of the agent's own logger; `{}` becomes time and pid."""
    return Line(at, text.format(f"{torch_python(run.job.host_ns(host, at))} {host.first_pid}"))


def _first_failure(run: Run, host: Host) -> int | None:
    """The first rank on the host that ended by itself, or None while the job runs on."""
    ended = [
        (run.endings[rank].at, rank)
        for rank in run.job.cluster.ranks_of(host)
        if run.endings[rank].fate in {Fate.EXITED, Fate.TIMED_OUT, Fate.REMOTE_ERROR}
    ]
    return min(ended)[1] if ended else None


def _summary(run: Run, host: Host, first: int, at: float) -> str:
    rows = [
        "",
        "=" * 53,
        f"{_SCRIPT} FAILED",
        "-" * 53,
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        "-" * 53,
        "Root Cause (first observed failure):",
        "[0]:",
        f"  time      : {elastic(run.job.host_ns(host, at))}",
        f"  host      : {host.name}",
        f"  rank      : {first} (local_rank: {run.job.cluster.local_rank(first)})",
        f"  exitcode  : {run.endings[first].exit_code} (pid: {run.job.cluster.pid_of(first)})",
        "  error_file: <N/A>",
        f"  traceback : {_reason(run.endings[first], run.job.cluster.pid_of(first))}",
        "=" * 53,
    ]
    return "\n".join(rows)


def _reason(ending: Ending, pid: int) -> str:
    if ending.exit_code is None or ending.exit_code >= 0:
        return "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    number = -ending.exit_code
    return f"Signal {number} ({signal.Signals(number).name}) received by PID {pid}"


def srun_lines(run: Run) -> Iterator[Line]:
    """srun names the first task of a node that ended by a signal or with an error."""
    for rank in run.ranks_that(Fate.EXITED, Fate.TIMED_OUT, Fate.REMOTE_ERROR):
        ending, host = run.endings[rank], run.job.cluster.host_of(rank)
        yield Line(ending.at + 1.8, f"srun: error: {host.name}: task {rank}: {_ended(ending)}")


def _ended(ending: Ending) -> str:
    code = ending.exit_code or 1
    words = {-9: "Killed", -6: "Aborted (core dumped)", -15: "Terminated"}
    return words.get(code, f"Exited with exit code {code}")
