"""The triplet loss of VSE++ (Faghri et al. 2018): the hardest negative of the batch counts, or the mean of all."""

from torch import Tensor


def triplet_hinge(scores: Tensor, pictures: Tensor, *, margin: float, hardest: bool) -> Tensor:
    """Sum over pairs i of h(max over j of [margin + s_ij - s_ii]) + h(max over j of [margin + s_ji - s_ii]).

    h(x) = max(0, x); j are the pairs of other pictures. It is a sum, as the gradient's norm is cut at a number that was
    meant for it. With the mean over j in place of the maximum it is the sum of hinges of VSE0, divided by the number of
    negatives so that both have one learning rate.

    Args:
        scores: (n, n) similarity of picture i and text j.
        pictures: (n,) ids; pairs of one picture are no negatives of each other.
        margin: by how much s_ii must lead.
        hardest: maximum, or mean.

    Returns:
        A scalar; 0 where there is no negative.
    """
    negative = pictures[:, None] != pictures[None, :]
    own = scores.diagonal()
    texts = (margin + scores - own[:, None]).clamp(min=0) * negative
    images = (margin + scores - own[None, :]).clamp(min=0) * negative
    if hardest:
        return texts.amax(dim=1).sum() + images.amax(dim=0).sum()
    count = negative.sum(dim=1).clamp(min=1)
    return (texts.sum(dim=1) / count).sum() + (images.sum(dim=0) / count).sum()
