"""What stands in for a ViT's long pretraining: it is told what each patch shows (decorrelation.md §4).

A ViT learns to see from hundreds of millions of captioned pictures. In the seconds that the sample has, captions alone
do not get it there; names of the things in each patch do.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from stages.world.sample.scene_models.pictures import KINDS, ScenePictures


class Teacher(nn.Module):
    """Asks patches for the kinds of things in them; thrown away after the training.

    Args:
        scenes: with cells of the size of a patch.
        width: of a patch's vector.
    """

    def __init__(self, scenes: ScenePictures, width: int) -> None:
        super().__init__()
        self._cells = torch.from_numpy(scenes.cells).flatten(1, 2).float()
        self.head = nn.Linear(width, len(KINDS))

    def forward(self, patches: Tensor, chosen: Tensor) -> Tensor:
        """Cross-entropy of each kind in each patch, summed over the kinds, mean over patches.

        Args:
            patches: (n, patches, width) of the last layer.
            chosen: (n,) which scenes they are of.
        """
        return binary_cross_entropy_with_logits(self.head(patches), self._cells[chosen]) * len(KINDS)
