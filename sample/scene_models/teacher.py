"""What stands in for a ViT's long pretraining: the kinds of things in each patch, picture and text.

A ViT learns to see from hundreds of millions of captioned pictures. In the seconds that the sample has, captions alone
do not get it there; the kinds of things that a patch shows and a picture holds do.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from sample.scene_models.scene_pictures import KINDS, ScenePictures

_SCALE = 10.0  # of unit embeddings, so that the head's weights can stay small


class Teacher(nn.Module):
    """Asks patches and embeddings for the kinds of things; thrown away after the training.

    One head reads both towers' embeddings: a picture and its text come to lie together.

    Args:
        scenes: with cells of the size of a patch.
        width: of a patch's vector.
        dimension: of an embedding.
    """

    def __init__(self, scenes: ScenePictures, *, width: int, dimension: int) -> None:
        super().__init__()
        self._cells = torch.from_numpy(scenes.cells).flatten(1, 2).float()
        self._kinds = torch.from_numpy(scenes.kinds).float()
        self.patch, self.whole = nn.Linear(width, len(KINDS)), nn.Linear(dimension, len(KINDS))
        # It begins with how rare each kind is, else hundreds of steps go into learning that.
        for head, shares in ((self.patch, self._cells.mean(dim=(0, 1))), (self.whole, self._kinds.mean(dim=0))):
            head.bias.data = shares.clamp(1e-4, 1 - 1e-4).logit()

    def forward(self, patches: Tensor, images: Tensor, texts: Tensor, chosen: Tensor) -> Tensor:
        """Cross-entropy of each kind, summed over the kinds; of patches, pictures and texts.

        Args:
            patches: (n, patches, width) of the last layer.
            images, texts: (n, dimension) of length 1.
            chosen: (n,) which scenes they are of.
        """
        pairs = [(self.patch(patches), self._cells[chosen])]
        pairs += [(self.whole(_SCALE * each), self._kinds[chosen]) for each in (images, texts)]
        losses = [binary_cross_entropy_with_logits(logits, kinds) for logits, kinds in pairs]
        return torch.stack(losses).sum() * len(KINDS)
