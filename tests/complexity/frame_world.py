"""A small French world for the frame parser: annotated texts from a few patterns, and a tiny encoder for them."""

import random
import re

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import CamembertConfig, CamembertModel, PreTrainedTokenizerFast

from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span

PEOPLE = ["Le général", "La reine", "Le consul", "L'archéologue", "Le roi", "La légion"]
PLACES = ["à Élis", "près de Véra", "au bord du Lys", "à l'est de Tarse"]
SITES = ["le temple", "une nécropole", "l'épave", "un théâtre"]
SECRETS = ["le complot", "la trahison", "l'erreur", "la vérité"]
YEARS = ["en 1916", "en 212", "au printemps"]
# Each part is plain text or (role, text): T is the trigger, the others are elements. "découvrir" evokes two frames by
# its object, "perdre" two; "perte" is a noun; the last pattern holds a form that evokes nothing.
PATTERNS = [
    ("Discovery", ("découvrir", "verb"), [("Finder", PEOPLE), ("T", ["découvre", "découvrit"]), ("Found", SITES), ("Place", PLACES)]),
    ("Discovery", ("découvrir", "verb"), [("Time", YEARS), ",", ("Finder", PEOPLE), ("T", ["découvre", "découvrit"]), ("Found", SITES)]),
    ("Realising", ("découvrir", "verb"), [("Finder", PEOPLE), ("T", ["découvre", "découvrit"]), ("Topic", SECRETS), ("Time", YEARS)]),
    ("Losing", ("perdre", "verb"), [("Owner", PEOPLE), ("T", ["perd", "perdit"]), ("Found", SITES), ("Time", YEARS)]),
    ("Losing", ("perte", "noun"), ["On déplore", "la", ("T", ["perte", "disparition"]), "qui toucha", ("Owner", PEOPLE), ("Place", PLACES)]),
    (None, None, ["La", "découverte", "de", SITES, "plaît à", PEOPLE]),
]  # fmt: skip


def sentence(rng, pattern, start):
    """(text, frame instance or None) of a sentence that begins at `start`."""
    frame, unit, parts = pattern
    text, trigger, elements = "", None, []
    for part in parts:
        role, choices = part if isinstance(part, tuple) else ("", [part] if isinstance(part, str) else part)
        piece = rng.choice(choices)
        text += "" if not text or piece == "," else " "
        span = Span(start + len(text), start + len(text) + len(piece))
        text += piece
        if role == "T":
            trigger = LexicalUnit(unit[0] if piece != "disparition" else piece, unit[1], span)
        elif role:
            elements.append(FrameElement(role, span, "peripheral" if role in ("Time", "Place") else "core"))
    text = text[0].upper() + text[1:]
    return text + ".", FrameInstance(frame, trigger, tuple(elements)) if frame else None


def make_texts(count, seed=0, sentences=3, prefix="t"):
    """Annotated texts."""
    rng = random.Random(seed)
    texts = []
    for number in range(count):
        text, frames = "", []
        for _ in range(sentences):
            text += " " if text else ""
            pattern = rng.choices(PATTERNS, weights=[4, 4, 3, 3, 2, 2])[0]
            piece, instance = sentence(rng, pattern, len(text))
            text += piece
            if instance is not None:
                frames.append(instance)
        texts.append(AnnotatedText(f"{prefix}{number}", f"Texte {number}", text, tuple(frames), ()))
    return texts


def write_encoder(folder, *, width=32, layers=1, positions=66, vocabulary=400):
    """A CamemBERT of this size, new weights, with a BPE tokenizer for these texts."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([text.text for text in make_texts(200, seed=9)], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        pad_token="<pad>", unk_token="<unk>", mask_token="<mask>",
    )  # fmt: skip
    config = CamembertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=width, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=positions, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        type_vocab_size=1,
    )  # fmt: skip
    CamembertModel(config, add_pooling_layer=False).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def find(text, needle, occurrence=0):
    """The span of the n-th occurrence of some characters."""
    return Span(*[found.span() for found in re.finditer(re.escape(needle), text)][occurrence])
