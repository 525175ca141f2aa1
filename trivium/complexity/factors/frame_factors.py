"""The seven complexity factors of every example, f0 to f6 (complexity.md §4).

A factor is yes (E_f, expected harder), no (Ē_f) or neither (null, counted). Thresholds that are not given are found as
the paper defines them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from trivium.complexity.effects.factor_table import FACTORS
from trivium.complexity.factors.arcs import arcs
from trivium.complexity.factors.inflections import Inflections, Presence
from trivium.files.tables import read_table
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.harness.parameters import Parameters
from trivium.measures.association import cramers_v, cramers_v_corrected
from trivium.measures.even_cut import even_cut
from trivium.measures.frames import entropy_bits

LexicalUnits = Mapping[str, Counter[str]]  # frame → how often each lexical unit evokes it


class FactorsParameters(Parameters):
    """Section `complexity.factors`."""

    f0_balance: Literal["evaluation", "adaptation"] = Field(
        description="What the cut of f0 splits most evenly: the evaluation examples, or the annotated adaptation corpus"
    )
    f0_cut: int | None = Field(ge=0, description="Most occurrences of a frame that f0 calls rare; null: as f0_balance")
    f3_reading: Literal["question", "both"] = Field(
        description="f3 asks for the trigger in the question, or in question and answer (then many are in neither set)"
    )
    f4_arcs: int = Field(ge=1, description="Fewest dependency arcs between trigger and answer that f4 calls far")
    f5_elements: int = Field(ge=0, description="Most frame elements that f5 calls few")
    f6_corpus: Literal["calor", "fquad"] = Field(
        description="Whose lexical units f6 counts: frame-annotated training texts, or annotated FQuAD"
    )
    f6_threshold: float | None = Field(ge=0, description="Bits above which f6 says yes; null: mean over the examples")


@dataclass(frozen=True)
class Corpora:
    """What the factors are measured against.

    Attributes:
        adaptation: lexical units by frame in the automatically annotated adaptation corpus.
        training: lexical units by frame in the frame-annotated training texts.
        syntax: dependency trees of the evaluation texts, by text id.
        inflections: known forms, for f3.
    """

    adaptation: LexicalUnits
    training: LexicalUnits
    syntax: Mapping[str, Sequence[Sentence]]
    inflections: Inflections


def lexical_units(texts: Sequence[AnnotatedText]) -> dict[str, Counter[str]]:
    """How often each lexical unit evokes each frame in annotated texts."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for each in text.frames:
            found.setdefault(each.frame, Counter())[each.lexical_unit.name] += 1
    return found


def predicted_units(path: Path) -> dict[str, Counter[str]]:
    """The same from the frames that the parser found in the adaptation corpus."""
    found: dict[str, Counter[str]] = {}
    columns = read_table(path, ["frame", "lemma", "part_of_speech"]).to_pydict()
    for frame, lemma, part_of_speech in zip(*columns.values(), strict=True):
        found.setdefault(frame, Counter())[f"{lemma}.{part_of_speech}"] += 1
    return found


def rare_cut(counts: Sequence[int], adaptation: LexicalUnits, balance: str) -> int | None:
    """The count up to which f0 calls a frame rare; None when all frames are equally frequent.

    Args:
        counts: of each example's frame in the adaptation corpus.
        adaptation: the adaptation corpus.
        balance: "evaluation" splits the examples most evenly; "adaptation" splits the occurrences in the adaptation
            corpus, where every frame weighs what it counts.
    """
    if balance == "evaluation":
        cut = even_cut(counts)
    else:
        totals = [sum(units.values()) for units in adaptation.values()]
        cut = even_cut(totals, totals) if totals else None
    return None if cut is None else int(cut)


def factor_rows(
    examples: Sequence[Example], corpora: Corpora, parameters: FactorsParameters
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """One row of SCHEMA an example, and the metrics: shares of yes, uncounted examples, thresholds, special cases."""
    counts = [sum(corpora.adaptation.get(each.frame.frame, Counter()).values()) for each in examples]
    cuts = {balance: rare_cut(counts, corpora.adaptation, balance) for balance in ("evaluation", "adaptation")}
    cut = parameters.f0_cut if parameters.f0_cut is not None else cuts[parameters.f0_balance]
    source = corpora.training if parameters.f6_corpus == "calor" else corpora.adaptation
    bits = {frame: entropy_bits(list(units.values())) for frame, units in source.items()}
    known_bits = [bits[each.frame.frame] for each in examples if each.frame.frame in bits]
    mean_bits = float(np.mean(known_bits)) if known_bits else None
    threshold = parameters.f6_threshold if parameters.f6_threshold is not None else mean_bits

    rows, seen = [], Counter[str]()
    for example, count in zip(examples, counts, strict=True):
        unit, elements = example.frame.lexical_unit, len({each.name for each in example.frame.elements})
        way = arcs(corpora.syntax.get(example.text.id, ()), unit.span, example.answer)
        asked = corpora.inflections.presence(unit.lemma, example.question)
        answered = corpora.inflections.presence(unit.lemma, example.answer_text)
        entropy = bits.get(example.frame.frame)
        absent, absent_there = _absent(asked), _absent(answered)
        both = absent if absent == absent_there else None
        seen.update({"f0_absent": count == 0, "f3_other_reading": both is None})
        seen.update([f"f3_{asked}", f"f4_{way.case}"])
        rows.append(
            {
                "id": example.id,
                "text_id": example.text.id,
                "frame": example.frame.frame,
                "answer_element": example.answer_element,
                "f0": None if cut is None else count <= cut,
                "f1": bool(example.chain),
                "f2": {"noun": True, "verb": False}.get(unit.part_of_speech),
                "f3": both if parameters.f3_reading == "both" else absent,
                "f4": way.count >= parameters.f4_arcs if way.case == "path" and way.count is not None else None,
                "f5": elements <= parameters.f5_elements,
                "f6": None if entropy is None or threshold is None else entropy > threshold,
                "f0_count": count,
                "f4_arcs": way.count,
                "f4_case": way.case,
                "f5_elements": elements,
                "f6_entropy": entropy,
                "trigger_in_answer": way.case == "trigger_in_answer",
            }
        )
    metrics = {
        "examples": float(len(examples)),
        "known_forms": float(len(corpora.inflections)),
        "f0_frame_absent": float(seen["f0_absent"]),
        "f3_found_by_stem": float(seen["f3_stem"]),
        "f3_found_by_homograph": float(seen["f3_homograph"]),
        "f3_found_by_spelling": float(seen["f3_spelling"]),
        "f3_uncounted_if_both": float(seen["f3_other_reading"]),
        **{f"f4_{case}": float(seen[f"f4_{case}"]) for case in ("trigger_in_answer", "other_sentence", "no_token")},
        **{f"f0_share_{name}": float(np.mean(np.array(counts) <= at)) for name, at in cuts.items() if at is not None},
    }
    used = {"f0": cut, "f4": parameters.f4_arcs, "f5": parameters.f5_elements, "f6": threshold}
    metrics |= {f"{name}_threshold": float(value) for name, value in used.items() if value is not None}
    return rows, metrics | summary(rows)


def _absent(found: Presence | None) -> bool | None:
    """Whether the trigger is absent; None when a stem alone was found, which may be that of a derivation."""
    return None if found == "stem" else found is None


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of each factor: share of yes among all examples, uncounted examples, Cramér's V with the answer element.

    V as it is (`_balance`) and without its bias (`_balance_corrected`).
    """
    metrics = {}
    for name in FACTORS:
        counted = [row for row in rows if row[name] is not None]
        metrics[f"{name}_share"] = sum(row[name] for row in counted) / len(rows)
        metrics[f"{name}_uncounted"] = float(len(rows) - len(counted))
        if counted:
            sorted_two_ways = [row["answer_element"] for row in counted], [row[name] for row in counted]
            for key, measure in (("balance", cramers_v), ("balance_corrected", cramers_v_corrected)):
                balance = measure(*sorted_two_ways)
                metrics |= {} if balance is None else {f"{name}_{key}": balance}
    return metrics
