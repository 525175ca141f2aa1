"""DPR trained on TriviaQA alone (kvqae.md §3)."""

from trivium.kvqae.retrieval.text_encoder_registry import TextEncoder


class DprZeroShot(TextEncoder):
    """D_0, of stage `kvqae-dpr_pretrain`."""

    name, label, symbol = "dpr_zero_shot", "DPR zero-shot", "D₀"
