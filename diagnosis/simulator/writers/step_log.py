"""What the training program itself prints: start-up, a line per iteration, harmless warnings.

In the form of Megatron-LM, where rank 0 speaks at the start and the last rank after each step.
"""

from collections.abc import Iterator

from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Call
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import plain

_BATCH_PER_REPLICA = 16
_TOTAL = 120_000
_USUAL_TFLOPS = 410.0
_WARNING_SHARE = 0.2

_SIZES = (
    "using world size: {world}, data-parallel size: {dp}, context-parallel size: 1, hierarchical "
    "context-parallel sizes: None, tensor-model-parallel size: {tp}, "
    "pipeline-model-parallel size: {pp}"
)
_SETUP_TIMES = (
    "(min, max) time across ranks (ms):\n"
    "    model-and-optimizer-setup ......................: (2412.55, 2431.08)\n"
    "    train/valid/test-data-iterators-setup ..........: (611.20, 934.71)"
)
_ITERATION = (
    " [{now}] iteration {number:8}/{total:8} | consumed samples: {samples:12} | elapsed time per "
    "iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): {tflops:.1f} | learning rate: "
    "1.499E-04 | global batch size: {batch:5} | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: "
    "{norm:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |"
)
_BARRIER_WARNING = (
    "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:4876: "
    "UserWarning: barrier(): using the device under current context. You can specify `device_id` "
    "in `init_process_group` to mute this warning.\n  warnings.warn(  # warn only once"
)
_AMP_WARNING = (
    "/opt/train/megatron/core/tensor_parallel/layers.py:34: FutureWarning: "
    "`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use "
    "`torch.amp.custom_fwd(args..., device_type='cuda')` instead."
)
_MEMORY_WARNING = "WARNING: Setting torch.backends.cudnn.benchmark=True may increase memory usage"
_HARMLESS = (_BARRIER_WARNING, _AMP_WARNING, _MEMORY_WARNING)


def training_lines(run: Run, rank: int) -> Iterator[Line]:
    """A rank's own lines, in no order of time."""
    rng = run.job.rng("warning", rank)
    if rng.random() < _WARNING_SHARE:
        yield Line(-4.4, _HARMLESS[int(rng.integers(len(_HARMLESS)))])
    if rank == 0:
        yield from _start(run)
        yield from _checkpoints(run)
    if rank == run.job.world - 1:
        yield from _iterations(run, rank)


def checkpoint_folder(run: Run) -> str:
    return f"/mnt/ckpt/run-{run.job.seed % 97:02}"


def _start(run: Run) -> Iterator[Line]:
    layout, folder = run.job.layout, checkpoint_folder(run)
    before = run.job.first_iteration - 1
    yield Line(-9.0, _SIZES.format(world=layout.world, dp=layout.dp, tp=layout.tp, pp=layout.pp))
    yield Line(-8.6, "> initializing torch distributed ...")
    yield Line(-7.9, "> compiling dataset index builder ...")
    yield Line(-2.0, f" loading distributed checkpoint from {folder} at iteration {before}")
    loaded = f"  successfully loaded checkpoint from {folder} [ t 1/{layout.tp}, p 1/{layout.pp} ]"
    yield Line(-1.2, f"{loaded} at iteration {before}")
    yield Line(-0.3, _SETUP_TIMES)


def _iterations(run: Run, rank: int) -> Iterator[Line]:
    """One line per step whose calls all completed on this rank."""
    job, done = run.job, run.timeline.completed[rank]
    program, host, rng = run.timeline.programs[rank], job.cluster.host_of(rank), job.rng("loss")
    batch, before, usual = _BATCH_PER_REPLICA * job.layout.dp, 0.0, 0.0
    for step, start in enumerate(program.starts):
        last = _last_of_step(program.calls[start : program.stop_of(step)], start)
        if last >= len(done):
            return
        took, before = done[last] - (before or done[start] - 0.03), done[last]
        usual = usual or took
        number = job.first_iteration + step
        text = _ITERATION.format(
            now=plain(job.host_ns(host, before)),
            number=number,
            total=_TOTAL,
            samples=number * batch,
            ms=took * 1e3,
            tflops=_USUAL_TFLOPS * usual / took,
            batch=batch,
            loss=2.1 + 3.0 * number**-0.25 + 0.01 * rng.standard_normal(),
            norm=0.4 + 0.05 * rng.random(),
        )
        yield Line(before + 0.004, text)


def _last_of_step(calls: tuple[Call, ...], start: int) -> int:
    """The index of the step's last call before a checkpoint."""
    return start + max(n for n, call in enumerate(calls) if call.phase != "checkpoint")


def _checkpoints(run: Run) -> Iterator[Line]:
    """Rank 0 announces each checkpoint, and its end after the barrier that follows."""
    program, job = run.timeline.programs[0], run.job
    done, host, folder = run.timeline.completed[0], job.cluster.host_of(0), checkpoint_folder(run)
    barriers = [index for index, call in enumerate(program.calls) if call.phase == "checkpoint"]
    for begin, end in zip(barriers[::2], barriers[1::2], strict=False):
        number = f"iteration {job.first_iteration + program.step_of(begin):7}"
        if begin < len(done):
            now = plain(job.host_ns(host, done[begin]))
            text = f"[{now}] saving checkpoint at {number} to {folder} in torch_dist format"
            yield Line(done[begin] + 0.01, text)
        if end < len(done):
            part = f"[ t 1/{job.layout.tp}, p 1/{job.layout.pp} ]"
            text = f"  successfully saved checkpoint from {number} to {folder} {part}"
            yield Line(done[end] + 0.01, text)
