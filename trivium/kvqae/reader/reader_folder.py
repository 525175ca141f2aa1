"""The reader on disk: a Hugging Face folder of `BertForQuestionAnswering`, as the authors published theirs."""

from functools import partial
from pathlib import Path

from transformers import BertForQuestionAnswering, BertTokenizer

from trivium.core.errors import BadInput
from trivium.nets.pretrained import export_trained, load_pretrained

HEADS = ("qa_outputs.",)


def load_reader(
    folder: Path, max_tokens: int, *, new_heads: bool = False
) -> tuple[BertForQuestionAnswering, BertTokenizer]:
    """A reader and its tokenizer.

    Args:
        folder: Hugging Face folder with safetensors.
        max_tokens: tokens that it will read.
        new_heads: start from a plain encoder: the two heads are drawn from torch's generator.

    Raises:
        BadInput: not such a folder, weights that are missing or do not fit its configuration (the layer is named), or
            too few positions for `max_tokens`.
    """
    model, tokenizer = load_pretrained(
        BertForQuestionAnswering,
        folder,
        "a reader",
        tokenizer=BertTokenizer,
        new=HEADS if new_heads else (),
        expected="a Hugging Face folder of BERT",
    )
    positions = model.config.max_position_embeddings
    if max_tokens > positions:
        raise BadInput("more tokens than positions", file=folder, got=max_tokens, expected=f"≤ {positions}")
    return model, tokenizer


save_reader = partial(  # what `load_reader` reads
    export_trained,
    title="Multi-passage BERT reader",
    description=(
        "Extracts a short answer from several passages of one question: start and end heads whose softmax is shared "
        "over the passages (Lerner et al., TAL 2022, section 7)."
    ),
)
