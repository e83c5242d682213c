"""What the training program itself prints: start-up, one line per iteration, harmless warnings."""

from collections.abc import Iterator

from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Call
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import plain

_BATCH_PER_REPLICA = 16
_TOTAL = 120_000


def training_lines(run: Run, rank: int) -> Iterator[Line]:
    """A rank's own lines. As in Megatron-LM rank 0 speaks at the start, the last rank per step."""
    if rank == 0:
        yield from _start(run)
    if run.job.rng("warning", rank).random() < 0.2:
        yield Line(-4.4, _harmless(run, rank))
    if rank == run.job.world - 1:
        yield from _iterations(run, rank)
    if rank == 0:
        yield from _checkpoints(run)


def _start(run: Run) -> Iterator[Line]:
    layout = run.job.layout
    yield Line(-9.0, f"using world size: {layout.world}, data-parallel size: {layout.dp}, "
                     "context-parallel size: 1, hierarchical context-parallel sizes: None, "
                     f"tensor-model-parallel size: {layout.tp}, "
                     f"pipeline-model-parallel size: {layout.pp}")  # fmt: skip
    yield Line(-8.6, "> initializing torch distributed ...")
    yield Line(-7.9, "> compiling dataset index builder ...")
    yield Line(-2.0, f" loading release checkpoint from /mnt/ckpt/run-{run.job.seed % 97:02}")
    yield Line(-1.2, f"  successfully loaded checkpoint from /mnt/ckpt/run-{run.job.seed % 97:02} "
                     f"[ t 1/1, p 1/1 ] at iteration {run.job.first_iteration - 1}")  # fmt: skip
    yield Line(-0.3, "(min, max) time across ranks (ms):\n    model-and-optimizer-setup "
                     "......................: (2412.55, 2431.08)\n    train/valid/test-data-iterators"
                     "-setup ..........: (611.20, 934.71)")  # fmt: skip


def _harmless(run: Run, rank: int) -> str:
    choices = (
        "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:4876: "
        "UserWarning: barrier(): using the device under current context. You can specify "
        "`device_id` in `init_process_group` to mute this warning.\n  warnings.warn(  # warn only once",
        "/opt/train/megatron/core/tensor_parallel/layers.py:34: FutureWarning: `torch.cuda.amp."
        "custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., "
        "device_type='cuda')` instead.",
        "WARNING: Setting torch.backends.cudnn.benchmark=True may increase memory usage",
    )
    return choices[int(run.job.rng("which-warning", rank).integers(len(choices)))]


def _iterations(run: Run, rank: int) -> Iterator[Line]:
    """One line per step whose calls all completed on this rank."""
    job, timeline = run.job, run.timeline
    program, done = timeline.programs[rank], timeline.completed[rank]
    host, rng = job.cluster.host_of(rank), job.rng("loss")
    before, end, usual = 0.0, run.endings[rank].at, 0.0
    batch = _BATCH_PER_REPLICA * job.layout.dp
    for step, start in enumerate(program.starts):
        stop = program.starts[step + 1] if step + 1 < len(program.starts) else len(program.calls)
        last = _last_of_step(program.calls[start:stop], start)
        if last >= len(done) or done[last] > end:
            return
        took, before = done[last] - (before or done[start] - 0.03), done[last]
        number = job.first_iteration + step
        at = done[last] + 0.004
        loss = 2.1 + 3.0 * (1 + number) ** -0.25 + 0.01 * rng.standard_normal()
        usual = usual or took
        yield Line(at, (
            f" [{plain(job.host_ns(host, at))}] iteration {number:8}/{_TOTAL:8} | "
            f"consumed samples: {number * batch:12} | "
            f"elapsed time per iteration (ms): {took * 1e3:.1f} | "
            f"throughput per GPU (TFLOP/s/GPU): {410.0 * usual / took:.1f} | learning rate: 1.499E-04 | "
            f"global batch size: {batch:5} | lm loss: {loss:.6E} | loss scale: 1.0 | "
            f"grad norm: {0.4 + 0.05 * rng.random():.3f} | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |"
        ))  # fmt: skip


def _last_of_step(calls: tuple[Call, ...], start: int) -> int:
    """The index of the step's last call before a checkpoint."""
    return start + max(n for n, call in enumerate(calls) if call.phase != "checkpoint")


def _checkpoints(run: Run) -> Iterator[Line]:
    """Rank 0 announces each checkpoint, and its end after the barrier that follows."""
    program, job = run.timeline.programs[0], run.job
    done, host = run.timeline.completed[0], job.cluster.host_of(0)
    barriers = [index for index, call in enumerate(program.calls) if call.phase == "checkpoint"]
    for begin, end in zip(barriers[::2], barriers[1::2], strict=False):
        number = job.first_iteration + program.step_of(begin)
        folder = f"/mnt/ckpt/run-{job.seed % 97:02}"
        if begin < len(done):
            yield Line(done[begin] + 0.01, f"[{plain(job.host_ns(host, done[begin]))}] saving "
                       f"checkpoint at iteration {number:7} to {folder} in torch_dist format")  # fmt: skip
        if end < len(done):
            yield Line(done[end] + 0.01, "  successfully saved checkpoint from iteration "
                       f"{number:7} to {folder} [ t 1/{job.layout.tp}, p 1/{job.layout.pp} ]")  # fmt: skip
