"""A small corpus on which the stages before the report have run, for the page of complexity."""

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from stages.complexity import factors, judgements, partition, score, validate
from trivium.complexity import judging as judgements_library
from trivium.complexity import table1
from trivium.complexity.factors.registry import AnyFactors
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import write_json, write_table
from trivium.core.tracking import Tracker
from trivium.formats.answer_files import write_predictions
from trivium.formats.conllu import Sentence, Token, write_conllu
from trivium.formats.facts import FACTORS, FACTS, SCORES
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span

FRAMES = {  # frame: its triggers, verbs and nouns
    "Attack": (["attaque", "assaille"], ["assaut"]),
    "Losing": (["perd"], ["perte"]),
    "Giving": (["donne", "offre", "cède"], ["don"]),
    "Building": (["bâtit"], ["construction"]),
    "Request": (["demande", "réclame", "prie"], ["requête", "demande"]),
    "Origin": (["vient"], ["origine"]),
}
WHO = ["L’armée belge", "Le général Férié", "Un évêque", "La reine", "Les légions", "Le consul Brutus"]
WHAT = ["la cité d’Élis", "une forteresse", "le port de Véra", "un trésor caché", "la nécropole"]
WHEN = ["en 212", "au printemps", "à l’aube", "en mars 1916"]
HOSTILE = "<script>alert('x')</script> & \"qui\" {{ 7 * 7 }} ?"
PARAMETERS: dict[str, Any] = yaml.safe_load("""
score: {run: [camembert, t5], readers: {camembert: extractive, minilm: extractive, t5: seq2seq}, seeds: [0, 1],
  prompted: [mixtral, gpt], shuffles: 2, confidence: 0.95, resamples: 100, seed: 0}
judgements: {questions: 1000, show_reference: true, confidence: 0.95, resamples: 100, seed: 0}
factors: {f0: {balance: evaluation, cut: null}, f1: {}, f2: {}, f3: {reading: question}, f4: {arcs: 2},
  f5: {elements: 2}, f6: {corpus: calor, threshold: null}}
validate: {measure: rouge_l, risk: 0.05, smallest_set: 1, confidence: 0.95, resamples: 100, seed: 0}
partition: {measure: rouge_l, majority: 0.5}
contrasts: {readers: [camembert, t5], seeds: [0]}
world: {seed: 3}
finetune:
  seeds: [0, 1]
  models:
    camembert: {kind: extractive, label: CamemBERT, weak: false}
    minilm: {kind: extractive, label: MiniLM, weak: false}
    t5: {kind: seq2seq, label: "T5 <tiny>", weak: true}
prompt: {models: {mixtral: {label: Mixtral}, gpt: {label: GPT-3.5}}}
page:
  weak_exact: 0.25
  models: {confidence: 0.95, resamples: 100, seed: 0}
  examples: {examples: 30, answer_characters: 200, seed: 0}
""")
METRICS: dict[str, dict[str, float]] = yaml.safe_load("""
frame_parser: {texts: 20, true_frames: 40, frame_accuracy: 0.95, baseline_frame_accuracy: 0.8,
  frame_accuracy_margin: 0.15, frame_accuracy_margin_p: 0.0001, frame_f1_margin: 0.1, frame_f1_margin_p: 0.01,
  ambiguous_share: 0.3, ambiguous_frame_accuracy: 0.9, baseline_ambiguous_frame_accuracy: 0.5}
syntax: {parser_conllu: 1, parser_stanza: 0, parser_spacy: 0, texts: 9, sentences: 9, words: 99}
world: {calor_test_texts_in_fquad: 3, calor_texts_in_train_and_test: 2, calor_texts_in_validation_and_test: 0,
  fquad_contexts_in_train_and_validation: 1}
prompt: {mixtral_run: 0, gpt_run: 0}
finetune_camembert_0: {parameters: 1234567, parameters_trained: 1234567, steps: 750, epochs: 2.857}
finetune_t5_0: {parameters: 1234567, parameters_trained: 45000, steps: 750, epochs: 2.857}
answer_camembert_0: {questions: 48, contexts_cut: 0, answers_behind_cut: 0, not_ended: 0}
answer_t5_0: {questions: 48, contexts_cut: 7, answers_behind_cut: 0, not_ended: 5}
""")
for task in ("trigger", "frame", "baseline_frame", "element", "element_given_frame"):
    METRICS["frame_parser"] |= {f"{task}_{part}": 0.8 for part in ("precision", "recall", "f1")}


def make_examples(texts: int, seed: int = 0) -> list[Example]:
    """Two questions a text: who, and what; every seventh text says who only in the sentence before."""
    rng = random.Random(seed)
    made: list[Example] = []
    for number in range(texts):
        frame = rng.choice(list(FRAMES))
        verbs, nouns = FRAMES[frame]
        nominal = rng.random() < 0.35
        trigger = rng.choice(nouns if nominal else verbs)
        who, what, when = rng.choice(WHO), rng.choice(WHAT), rng.choice(WHEN)
        chain = number % 7 == 0
        text = f"{who} arrive. " if chain else ""
        said = "il" if chain else who
        parts = {"Agent": said, "T": trigger, "Theme": what} | ({"Time": when} if rng.random() < 0.5 else {})
        spans = {}
        for name, words in parts.items():
            spans[name] = Span(len(text), len(text) + len(words))
            text += words + " "
        text = text.rstrip() + ". Le temps était beau."
        elements = tuple(
            FrameElement(name, span, "peripheral" if name == "Time" else "core")
            for name, span in spans.items()
            if name != "T"
        )
        antecedent = Span(0, len(who))
        chains = ((antecedent, spans["Agent"]),) if chain else ()
        unit = LexicalUnit(trigger, "noun" if nominal else "verb", spans["T"])
        instance = FrameInstance(frame, unit, elements)
        annotated = AnnotatedText(f"t{number}", f"Titre {number}", text, (instance,), chains)
        for element in elements[:2]:
            resolved = chain and element.name == "Agent"
            asked = trigger if rng.random() < 0.5 else "fait cela"
            made.append(
                Example(
                    id=f"q{len(made)}",
                    text=annotated,
                    question=HOSTILE if not made else f"Qui ou quoi {asked}, en {number} ?",
                    answer=antecedent if resolved else element.span,
                    frame=instance,
                    answer_element=element.name,
                    context_elements=tuple(each.name for each in elements[2:]),
                    chain=(element.span, antecedent) if resolved else (),
                )
            )
    return made


def sentences(text: str) -> list[Sentence]:
    """Words chained one to the next: a tree that fits, no more."""
    found = []
    for sentence in re.finditer(r"[^.]+\.", text):
        words = [
            Span(sentence.start() + word.start(), sentence.start() + word.end())
            for word in re.finditer(r"[^\s.]+|\.", sentence.group())
        ]
        tokens = tuple(
            Token(place, span.of(text), span.of(text), "X", place // 2, "dep" if place > 1 else "root", span)
            for place, span in enumerate(words, 1)
        )
        found.append(Sentence(tokens, Span(words[0].start, words[-1].end)))
    return found


def answers(examples: list[Example], right: float, seed: int) -> dict[str, str]:
    """The reference for some, a few words of the text for the others; one answer is hostile."""
    rng = random.Random(seed)
    given = {}
    for each in examples:
        words = each.text.text.split()
        wrong = " ".join(words[: rng.randint(1, 4)])
        given[each.id] = each.answer_text if rng.random() < right else wrong
    return given | {examples[0].id: "<img src=x onerror=alert(1)>"}


def write_contrasts(folder: Path) -> None:
    """Facts about f1 and f2, three each: f1 costs both readers 50 points, f2 the second alone."""
    facts, scores = [], []
    for factor, number, there in product(("f1", "f2"), range(3), (True, False)):
        own = dict.fromkeys(FACTORS) | {factor: there, "fact": f"{factor}-{number}"}
        row = own | {"id": f"{factor}-{number}-{there}"}
        asked = {"context": f"{HOSTILE} {row['id']}", "question": HOSTILE, "answer": f"vrai {number}"}
        facts.append(row | asked | {"frame": "Attack", "corpora": ["a", "b"]})
        for reader, corpus in product(("camembert", "t5"), ("a", "b")):
            costs = 0.5 * (there and (factor == "f1" or reader == "t5")) + 0.01 * number * there
            told = {"corpus": corpus, "reader": reader, "seed": 0, "answer": f"{reader} dit", "baseline": 0.2}
            scores.append(row | told | {"score": 0.9 - costs})
    write_table(folder / "raw/crossed/facts.parquet", pa.Table.from_pylist(facts, FACTS))
    for reader in ("camembert", "t5"):
        own = [row for row in scores if row["reader"] == reader]
        write_table(folder / "contrasts" / reader / "seed-0.parquet", pa.Table.from_pylist(own, SCORES))


def run_stages(folder: Path, texts: int = 24) -> dict[str, Path]:
    """Run everything before the report; returns the arguments of the page but `out`."""
    examples = make_examples(texts)
    annotated = list({each.text.id: each.text for each in examples}.values())
    raw, measured = folder / "raw/calor", folder / "metrics"
    asked = {"questions": raw / "questions.jsonl", "texts": raw / "frames/test.jsonl"}
    measured.mkdir()
    write_texts(asked["texts"], annotated)
    write_examples(asked["questions"], examples)
    write_conllu(
        folder / "syntax.conllu",
        {each.id: sentences(each.text) for each in annotated},
        {each.id: each.text for each in annotated},
    )
    rng = random.Random(1)
    frames = [rng.choice(list(FRAMES)) for _ in range(80)]
    columns = {"frame": frames, "lemma": frames, "part_of_speech": ["verb"] * len(frames)}
    write_table(folder / "adaptation.parquet", pa.table(columns))
    for name in ("predictions", "prompted", "brought", "judged"):
        (folder / name).mkdir()
    for model, right in (("camembert", 0.7), ("t5", 0.15)):
        for seed in PARAMETERS["score"]["seeds"]:
            write_predictions(folder / f"predictions/{model}/seed-{seed}.jsonl", answers(examples, right, seed))
    write_predictions(folder / "brought/mine & yours.jsonl", answers(examples, 0.6, 9))
    metrics = dict(METRICS)
    metrics["score"] = score.main(
        table1.ScoreParameters(**PARAMETERS["score"]),
        Context(tracker=Tracker(), work=folder, engine=LocalEngine(1)),
        **asked,
        predictions=folder / "predictions",
        prompted=folder / "prompted",
        brought=folder / "brought",
        out=folder / "scores.parquet",
        out_frames=folder / "frame_scores.csv",
        out_questions=folder / "squad.json",
    )
    metrics["judgements"] = judgements.main(
        judgements_library.JudgementsParameters(**PARAMETERS["judgements"]),
        **asked,
        scores=folder / "scores.parquet",
        brought=folder / "judged",
        out=folder / "judgements.parquet",
        out_label_studio=folder / "label_studio",
        out_frames=measured / "frame_judgements.csv",
    )
    metrics["factors"] = factors.main(
        AnyFactors(**PARAMETERS["factors"]),
        **asked,
        training=asked["texts"],
        syntax=folder / "syntax.conllu",
        adaptation=folder / "adaptation.parquet",
        out=folder / "factors.parquet",
    )
    metrics["validate"] = validate.main(
        validate.ValidateParameters(**PARAMETERS["validate"]),
        scores=folder / "scores.parquet",
        factors=folder / "factors.parquet",
        out=folder / "effects.parquet",
        out_agreement=measured / "agreement.csv",
    )
    metrics["partition"] = partition.main(
        partition.PartitionParameters(**PARAMETERS["partition"], source="sample", world_seed=3, parser="conllu"),
        **asked,
        training=asked["texts"],
        factors=folder / "factors.parquet",
        scores=folder / "scores.parquet",
        effects=folder / "effects.parquet",
        out=folder / "partitions",
        out_curves=measured / "partitions.csv",
        out_frames=measured / "illustrations.csv",
    )
    write_contrasts(folder)
    for stage, found in metrics.items():
        write_json(measured / f"{stage}.json", found)
    tree = {"world": {"calor": "sample"}, "complexity": PARAMETERS}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    (folder / "paper.yaml").write_text("complexity: {score: {shuffles: 20}}\n", encoding="utf-8")
    return {
        "data": folder,
        "measured": measured,
        "published": Path(__file__).parents[1] / "published" / "complexity.yaml",
        "used": folder / "params.yaml",
        "paper": folder / "paper.yaml",
    }
