"""DPR fine-tuned on ViQuAE (kvqae.md §3)."""

from trivium.kvqae.retrieval.text_encoder_registry import TextEncoder


class DprFewShot(TextEncoder):
    """D_f, of stage `kvqae-dpr_finetune`."""

    name, label, symbol = "dpr_few_shot", "DPR few-shot", "D_f"
