"""Batches over several processes: a loss over a whole batch sees the embeddings of every process."""

import torch
import torch.distributed
import torch.distributed.nn.functional


def gathered(local: torch.Tensor) -> torch.Tensor:
    """Rows of every process one after the other, with their gradient; the tensor itself in a single process.

    Every process then computes the loss of the whole batch. Backward adds up what all processes say about a row, so
    the mean of the processes' weight gradients is the gradient of a single process with the whole batch.

    Args:
        local: (n, ...) rows of this process; n is the same in each.

    Returns:
        (processes · n, ...).
    """
    if not torch.distributed.is_initialized() or torch.distributed.get_world_size() == 1:
        return local
    if not local.is_floating_point():  # ids have no gradient
        parts = [torch.empty_like(local) for _ in range(torch.distributed.get_world_size())]
        torch.distributed.all_gather(parts, local)
        return torch.cat(parts)
    return torch.cat(torch.distributed.nn.functional.all_gather(local))
