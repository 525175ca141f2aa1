"""Small French questions, and encoders small enough for a test."""

import random
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from sample.encoders.french import Encoder, save_camembert, train_tokenizer
from trivium.complexity.readers.kinds.extractive import ExtractiveSettings
from trivium.formats.squad import SquadQuestion

WHO = ("l'armée romaine", "la légion", "le général d'Égypte", "l'équipe", "la reine", "le préfet")
WHAT = ("la forteresse", "un théâtre", "l'aqueduc", "le camp gaulois", "une nécropole", "la cité antique")
WHEN = ("en été", "à l'aube", "au mois de février", "la même année")


def questions(count: int, seed: int = 0) -> list[SquadQuestion]:
    """Who destroyed, or what was destroyed: the words of the question tell where the answer stands."""
    draw, made = random.Random(seed), []
    for number in range(count):
        who, what, when = draw.choice(WHO), draw.choice(WHAT), draw.choice(WHEN)
        context = f"{when.capitalize()}, {who} a détruit {what}. Les fouilles l’ont montré…"
        asked, answer = draw.choice(((f"Qui a détruit {what} ?", who), (f"Qu'est-ce que {who} a détruit ?", what)))
        made.append(SquadQuestion(f"q{number}", "titre", context, asked, ((answer, context.index(answer)),)))
    return made


def tokenizer(vocabulary: int = 420) -> Tokenizer:
    texts = [text for each in questions(60) for text in (each.context, each.question)]
    return train_tokenizer(texts, vocabulary)


def write_camembert(folder: Path, layers: int = 1, width: int = 32) -> Path:
    torch.manual_seed(0)
    save_camembert(
        tokenizer(), Encoder(layers=layers, width=width, heads=2, feed_forward=2 * width, dropout=0.1), folder
    )
    return folder


def settings(**changes: Any) -> ExtractiveSettings:
    values = {
        "kind": "extractive",
        "label": "Tiny",
        "weak": True,
        "base": "camembert",
        "max_tokens": 64,
        "stride": 8,
        "answer_tokens": 12,
        "batch_size": 8,
        "mini_batch_size": 8,
        "learning_rate": 3e-3,
        "weight_decay": 0.01,
        "warmup": 0.1,
        "max_gradient_norm": 1.0,
        "epochs": 2,
        "max_steps": None,
        "layers": None,
        "frozen_layers": 0,
        "frozen_embeddings": False,
    }
    return ExtractiveSettings.model_validate(values | changes)


# Of each kind its own settings, and the base model of the sample that it starts from.
OWN = {
    "causal": {"base": "llama", "rank": 4, "alpha": 8.0, "dropout": 0.0, "target_modules": ("q_proj", "v_proj")},
    "extractive": {"base": "camembert", "stride": 8},
    "seq2seq": {"base": "mt5"},
}
