"""Tokenizers of the sample's models: one token for each word of the captions, in the formats of the real ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH
from trivium.decorrelation.models.vse import WORD, words_of


def save_bert_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer of BERT's form, [CLS] words [SEP], with BLIP's two marks; returns it."""
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    words = [*marks.values(), BEGIN_CAPTION, MATCH, *_words(captions)]
    return _save(words, folder, "[CLS]", "[SEP]", **marks, extra_special_tokens=[BEGIN_CAPTION, MATCH])


def save_clip_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer of <start> words <end>; the end has the highest id, by which CLIP's text tower finds it."""
    marks = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<start>", "eos_token": "<end>"}
    return _save(["<pad>", "<unk>", "<start>", *_words(captions), "<end>"], folder, "<start>", "<end>", **marks)


def _words(captions: Iterable[str]) -> list[str]:
    return sorted({word for caption in captions for word in words_of(caption)})


def _save(words: list[str], folder: Path, begin: str, end: str, **marks: Any) -> PreTrainedTokenizerFast:
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=marks["unk_token"]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, numbers[begin]), (end, numbers[end])]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)
    fast.save_pretrained(folder)
    return fast
