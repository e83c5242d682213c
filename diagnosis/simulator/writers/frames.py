"""The Python stack under each kind of call, innermost frame first."""

from collections.abc import Mapping
from functools import cache

from diagnosis.simulator.schedule import Call
from diagnosis.simulator.writers.torch_pickle import SharedDict

_SITE = "/opt/venv/lib/python3.11/site-packages"
_C10D = f"{_SITE}/torch/distributed/distributed_c10d.py"
_LOGGER = f"{_SITE}/torch/distributed/c10d_logger.py"
_CORE = "/opt/train/megatron/core"
_TRAINING = "/opt/train/megatron/training/training.py"

_CALLEES: Mapping[str, tuple[str, int]] = {
    "all_reduce": ("all_reduce", 2940),
    "broadcast": ("broadcast", 2770),
    "_all_gather_base": ("all_gather_into_tensor", 3969),
    "_reduce_scatter_base": ("reduce_scatter_tensor", 4491),
    "all_reduce_barrier": ("barrier", 4874),
    "reduce": ("reduce", 3051),
    "send": ("isend", 2504),
    "recv": ("irecv", 2556),
}

_PATHS: Mapping[str, tuple[tuple[str, str, int], ...]] = {
    "setup": (
        ("_initialize_distributed", "/opt/train/megatron/training/initialize.py", 340),
        ("initialize_megatron", "/opt/train/megatron/training/initialize.py", 105),
    ),
    "forward": (
        ("forward_step", f"{_CORE}/pipeline_parallel/schedules.py", 327),
        (
            "forward_backward_pipelining_without_interleaving",
            f"{_CORE}/pipeline_parallel/schedules.py",
            1969,
        ),
        ("train_step", _TRAINING, 1273),
        ("train", _TRAINING, 2141),
    ),
    "backward": (
        ("backward_step", f"{_CORE}/pipeline_parallel/schedules.py", 391),
        (
            "forward_backward_pipelining_without_interleaving",
            f"{_CORE}/pipeline_parallel/schedules.py",
            2088,
        ),
        ("train_step", _TRAINING, 1273),
        ("train", _TRAINING, 2141),
    ),
    "optimizer": (
        ("step", f"{_CORE}/optimizer/distrib_optimizer.py", 2197),
        ("train_step", _TRAINING, 1306),
        ("train", _TRAINING, 2141),
    ),
    "checkpoint": (
        ("save_checkpoint", "/opt/train/megatron/training/checkpointing.py", 412),
        ("save_checkpoint_and_time", _TRAINING, 1560),
        ("train", _TRAINING, 2236),
    ),
}

_MAIN = (
    ("pretrain", _TRAINING, 866),
    ("<module>", "/opt/train/pretrain_gpt.py", 296),
)


@cache
def _frame(name: str, filename: str, line: int) -> SharedDict:
    return SharedDict(name=name, filename=filename, line=line)


@cache
def _stack(op: str, phase: str) -> tuple[SharedDict, ...]:
    callee, line = _CALLEES[op]
    path = (
        (callee, _C10D, line),
        ("wrapper", _LOGGER, 81),
        *_PATHS[phase],
        *_MAIN,
    )
    return tuple(_frame(*place) for place in path)


def frames_of(call: Call) -> list[SharedDict]:
    """Frames as Flight Recorder lists them, shared between calls from the same place."""
    return list(_stack(call.op, call.phase))
