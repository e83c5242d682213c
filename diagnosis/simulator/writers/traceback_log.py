"""Python tracebacks as torch prints them for a rank: every row begins with `[rankN]: `."""

from collections.abc import Mapping

from diagnosis.simulator.releases import Release

_TRAIN = "/opt/train/megatron/training/training.py"
_CORE = "/opt/train/megatron/core"
_NN = "/opt/venv/lib/python3.11/site-packages/torch"

_ENGINE_CALL = (
    "return Variable._execution_engine.run_backward(  "
    "# Calls into the C++ engine to run the backward pass"
)
_TRAIN_LOOP = (_TRAIN, 2141, "train", "train_step(forward_step_func,")
_INNER: Mapping[str, tuple[tuple[str, int, str, str], ...]] = {
    "forward": (
        _TRAIN_LOOP,
        (_TRAIN, 1273, "train_step", "losses_reduced = forward_backward_func("),
        (
            f"{_CORE}/pipeline_parallel/schedules.py",
            1969,
            "forward_backward_pipelining_without_interleaving",
            "output_tensor, num_tokens = forward_step(",
        ),
        (
            f"{_CORE}/pipeline_parallel/schedules.py",
            327,
            "forward_step",
            "output_tensor, loss_func = forward_step_func(data_iterator, model)",
        ),
        (
            "/opt/train/pretrain_gpt.py",
            221,
            "forward_step",
            "output_tensor = model(tokens, position_ids, attention_mask, labels=labels)",
        ),
        (f"{_NN}/nn/modules/module.py", 1762, "_call_impl", "return forward_call(*args, **kwargs)"),
        (
            f"{_CORE}/transformer/mlp.py",
            141,
            "forward",
            "intermediate_parallel = self.activation_func(intermediate_parallel)",
        ),
    ),
    "backward": (
        _TRAIN_LOOP,
        (_TRAIN, 1273, "train_step", "losses_reduced = forward_backward_func("),
        (
            f"{_CORE}/pipeline_parallel/schedules.py",
            2088,
            "forward_backward_pipelining_without_interleaving",
            "input_tensor_grad = backward_step(",
        ),
        (
            f"{_CORE}/pipeline_parallel/schedules.py",
            391,
            "backward_step",
            "torch.autograd.backward(output_tensor[0], grad_tensors=output_tensor_grad[0])",
        ),
        (f"{_NN}/autograd/__init__.py", 347, "backward", "_engine_run_backward("),
        (f"{_NN}/autograd/graph.py", 823, "_engine_run_backward", _ENGINE_CALL),
    ),
    "optimizer": (
        _TRAIN_LOOP,
        (_TRAIN, 1306, "train_step", "update_successful, grad_norm, num_zeros = optimizer.step()"),
        (
            f"{_CORE}/optimizer/distrib_optimizer.py",
            2197,
            "step",
            "update_successful, grad_norm, num_zeros_in_grad = super().step()",
        ),
    ),
    "checkpoint": (
        (_TRAIN, 2236, "train", "save_checkpoint_and_time(iteration, model, optimizer,"),
        (
            "/opt/train/megatron/training/checkpointing.py",
            487,
            "save_checkpoint",
            "async_save_request = dist_checkpointing.save(state_dict, checkpoint_name,",
        ),
        (
            f"{_CORE}/dist_checkpointing/strategies/torch.py",
            646,
            "async_save",
            "writer.prepare_write_data(plan, planner)",
        ),
        (
            f"{_CORE}/dist_checkpointing/strategies/filesystem_async.py",
            232,
            "write_preloaded_data",
            "os.fsync(stream.fileno())",
        ),
    ),
}


def rank_traceback(rank: int, phase: str, error: str) -> str:
    """The traceback of an exception in the phase of a step, ending in `Type: message`."""
    rows = ["Traceback (most recent call last):"]
    outer = (
        ("/opt/train/pretrain_gpt.py", 296, "<module>", "pretrain("),
        (_TRAIN, 866, "pretrain", "iteration, num_floating_point_operations_so_far = train("),
    )
    for filename, line, name, source in (*outer, *_INNER[phase]):
        rows += [f'  File "{filename}", line {line}, in {name}', f"    {source}"]
    rows += error.split("\n")
    return "\n".join(f"[rank{rank}]: {row}" for row in rows)


def cuda_error(release: Release, what: str) -> str:
    """The exception that torch raises for an asynchronous CUDA error."""
    newer = tuple(map(int, release.torch.split("."))) >= (2, 8)
    return (
        f"{'torch.AcceleratorError' if newer else 'RuntimeError'}: CUDA error: {what}\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the "
        "stacktrace below might be incorrect.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
    )
