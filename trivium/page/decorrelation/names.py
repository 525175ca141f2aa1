"""What Decorrelation's tables call data sets and variants of training."""

VARIANTS = {
    "zero_shot": "zero-shot",
    "finetune": "finetuned on D",
    "ours": "+ ours, on D ∪ D′",
    "longer": "on D, more steps",
    "zero": "on D ∪ D′, zero filled",
}
DATASETS = {"coco": "COCO", "flickr30k": "Flickr30k", "control": "Control world"}
