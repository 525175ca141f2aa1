"""One vector a text from a BERT."""

from torch import Tensor, nn

from trivium.nets.device import autocast


def cls_vectors(encoder: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """(texts, width) float32: the last layer at [CLS], not normalised; bf16 inside on a GPU.

    Segment ids are 0 throughout, also after the [SEP] between title and text, as in the published DPR weights.
    """
    # Here and not around the loss: gradient caching runs encoders again from a backward hook, in another thread.
    with autocast(input_ids.device):
        states = encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
    return states[:, 0].float()
