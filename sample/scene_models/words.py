"""Tokenizers of the sample's models: a number for every word of the captions, in the formats of the real ones."""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH
from trivium.decorrelation.models.vse import WORD, words_of

_BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", BEGIN_CAPTION, MATCH)
_CLIP = ("<pad>", "<unk>", "<start>")
_CLIP_END = "<end>"


def save_bert_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """[CLS] words [SEP], as BERT's; with BLIP's two marks. Write it and return it."""
    tokenizer = _tokenizer([*_BERT, *_words(captions)], unknown="[UNK]", begin="[CLS]", end="[SEP]")
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        extra_special_tokens=[BEGIN_CAPTION, MATCH],
    )
    fast.save_pretrained(folder)
    return fast


def save_clip_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """<start> words <end>; the end mark has the highest number, by which CLIP's text tower finds it."""
    tokenizer = _tokenizer([*_CLIP, *_words(captions), _CLIP_END], unknown="<unk>", begin="<start>", end=_CLIP_END)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<start>", eos_token=_CLIP_END
    )
    fast.save_pretrained(folder)
    return fast


def _words(captions: Iterable[str]) -> list[str]:
    return sorted({word for caption in captions for word in words_of(caption)})


def _tokenizer(words: list[str], *, unknown: str, begin: str, end: str) -> Tokenizer:
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, numbers[begin]), (end, numbers[end])]
    )
    return tokenizer
