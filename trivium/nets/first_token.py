"""One vector a picture from a vision transformer of transformers: the first token of its last layer."""

from torch import Tensor, nn


class FirstToken(nn.Module):
    """(n, 3, height, width) → (n, width).

    Args:
        network: gives `pooler_output`: the first token behind the last norm; of a ConvNeXt, the mean over the map.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        """See the class."""
        found: Tensor = self.network(pixel_values=pixels).pooler_output
        return found
