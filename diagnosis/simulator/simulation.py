"""The result of a simulation: files made on demand, and the truth about them."""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.simulator.cluster import Host, topology_of
from diagnosis.simulator.run import Run
from diagnosis.simulator.story import Story
from diagnosis.simulator.truth import Truth
from diagnosis.simulator.writers import job_log, manifest
from diagnosis.simulator.writers.flight_recorder import dump_bytes
from diagnosis.simulator.writers.kernel_log import kernel_log

#: A kernel log reaches this far beyond the last rank's end (seconds).
_KERNEL_TAIL_S = 30.0


class LazyFiles(Mapping[str, bytes]):
    """File name → content, made when asked for and not kept: a large job fits in memory."""

    def __init__(self, makers: Mapping[str, Callable[[], bytes]]) -> None:
        self._makers = makers

    def __getitem__(self, name: str) -> bytes:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers


@dataclass(frozen=True)
class Simulation:
    """Evidence of one incident. `files` are the inputs of a diagnosis; the truth is not in them."""

    run: Run
    story: Story

    @property
    def truth(self) -> Truth:
        return self.story.truth

    @property
    def placement(self) -> Placement:
        return self.run.job.placement

    @cached_property
    def topology(self) -> dict[str, object]:
        return topology_of(self.run.job.cluster)

    @cached_property
    def files(self) -> LazyFiles:
        makers: dict[str, Callable[[], bytes]] = {
            "placement.json": lambda: manifest.placement_json(self.placement),
            "topology.json": lambda: manifest.topology_json(self.topology),
        }
        for rank, ending in enumerate(self.run.endings):
            if ending.dump_at is not None:
                makers[self._dump_name(rank)] = self._dump(rank)
        makers.update(self._logs())
        for host in self.run.job.cluster.hosts:
            makers[f"{host.name}.dmesg.log"] = self._kernel(host)
        return LazyFiles(makers)

    def evidence(self) -> list[Evidence]:
        """The files as the engine takes them; sizes are known, so each is made once here."""
        return [self._evidence(name) for name in self.files]

    def _evidence(self, name: str) -> Evidence:
        content = self.files[name]
        return Evidence(name=name, open=lambda: io.BytesIO(content), size=len(content))

    def write(self, folder: Path) -> int:
        """Write the files, and `truth/truth.json` beside them; how many bytes of evidence."""
        truth = folder / "truth"
        truth.mkdir(parents=True, exist_ok=True)
        (truth / "truth.json").write_bytes(manifest.truth_json(self.truth))
        return sum((folder / name).write_bytes(content) for name, content in self.files.items())

    def _dump_name(self, rank: int) -> str:
        options, cluster = self.run.job.options, self.run.job.cluster
        name = f"comm_lib_trace_rank_{rank}"
        if options.host_in_name:
            name = f"nccl_trace_rank_{cluster.host_of(rank).name}_{rank}"
        return f"{name}.json" if options.fr_form == "json" else name

    def _logs(self) -> dict[str, Callable[[], bytes]]:
        job, form = self.run.job, self.run.job.options.log_form
        if form == "job":
            number = 80_000 + job.seed % 10_000
            return {f"slurm-{number}.out": lambda: job_log.whole_log(self.run, self.story)}
        if form == "per-host":
            return {f"{host.name}.train.log": self._host_log(host) for host in job.cluster.hosts}
        logs = {f"rank-{rank}.log": self._rank_log(rank) for rank in range(job.world)}
        if job.options.launcher == "torchrun":
            logs |= {
                f"{host.name}.torchrun.log": self._agent_log(host) for host in job.cluster.hosts
            }
        return logs

    def _dump(self, rank: int) -> Callable[[], bytes]:
        return lambda: dump_bytes(self.run, rank)

    def _rank_log(self, rank: int) -> Callable[[], bytes]:
        return lambda: job_log.rank_log(self.run, self.story, rank)

    def _host_log(self, host: Host) -> Callable[[], bytes]:
        return lambda: job_log.host_log(self.run, self.story, host)

    def _agent_log(self, host: Host) -> Callable[[], bytes]:
        return lambda: job_log.agent_log(self.run, host)

    def _kernel(self, host: Host) -> Callable[[], bytes]:
        until = max(ending.at for ending in self.run.endings) + _KERNEL_TAIL_S
        lines = self.story.kernel_lines.get(host.name, ())
        return lambda: kernel_log(self.run.job, host, lines, until).encode()
