"""Factors f0 to f6 on two texts: every one read off by eye."""

from collections import Counter
from dataclasses import replace
from math import log2

import pyarrow as pa
import pytest

from sample.french.french_world import build_french
from stages.complexity.factors import main
from tests.complexity.factor_world import (
    ADAPTATION,
    EXAMPLES,
    FALL,
    FIRST,
    LES_GAULOIS,
    NOMINAL,
    SECOND,
    SYNTAX,
    TEXTS,
    TRAINING,
    span,
)
from tests.complexity.paper_factors import FACTORS, chosen, labels
from trivium.complexity.effects.analysed_tables import read_factors, read_names
from trivium.complexity.factors.corpora import Corpora, Inflections, known_inflections, lexical_units
from trivium.complexity.factors.members.f4 import arcs
from trivium.complexity.factors.registry import AnyFactors, factor_table
from trivium.core.tables import read_table, write_table
from trivium.formats.conllu import write_conllu
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.framed_texts import Span

BESIEGING_BITS = -(2 / 3) * log2(2 / 3) - (1 / 3) * log2(1 / 3)


def asked(**changes):
    """The factors with changed parameters, `f0_cut` for the cut of f0."""
    own: dict = {}
    for key, value in changes.items():
        factor, _, name = key.partition("_")
        own.setdefault(factor, {})[name] = value
    return chosen(**own)


def corpora(**changes):
    values = {
        "adaptation": {name: Counter({f"{name}.verb": count}) for name, count in ADAPTATION.items()},
        "training": lexical_units(TRAINING),
        "syntax": SYNTAX,
        "inflections": known_inflections(SYNTAX, [*TRAINING, *TEXTS]),
    }
    return Corpora(**values | changes)


def column(name, examples=EXAMPLES, **changes):
    known = corpora(**{key: changes.pop(key) for key in list(changes) if key in Corpora.__annotations__})
    table, metrics = factor_table(examples, known, asked(**changes))
    return table[name].to_pylist(), metrics


def test_f0_cuts_where_the_examples_split_most_evenly():
    # Counts 40 40 7 7 40 0: ≤ 7 holds for three of six, ≤ 0 for one.
    values, metrics = column("f0")
    assert values == [False, False, True, True, False, True]
    assert metrics["f0_threshold"] == 7
    assert metrics["f0_share"] == 0.5
    assert metrics["f0_frame_absent"] == 1
    assert column("f0", f0_cut=0)[0] == [False] * 5 + [True]


def test_f3_is_a_trigger_that_the_question_lacks():
    # q0 "assiégea" by stem alone (the form is unknown): neither. q2 "pris" and q3 "prennent" by lemma, q4 "siège" itself.
    values, metrics = column("f3")
    assert values == [None, True, False, False, False, True]
    assert metrics["f3_found_by_stem"] == 1 == metrics["f3_uncounted"]
    assert metrics["f3_found_by_homograph"] == 0


def test_f3_both_leaves_out_what_is_in_one_of_them():
    # Only q5's answer "La chute de Motyé" holds its trigger, so that q5 is in neither set; the others lack it there.
    values, metrics = column("f3", f3_reading="both")
    assert values == [None, True, None, None, None, None]
    assert metrics["f3_uncounted"] == 5 == metrics["f3_uncounted_if_both"]


def test_the_other_readings_stand_beside():
    both = asked(f0_other_reading=True, f3_other_reading=True)
    # The examples' counts are 40 40 9 9 40 0: ≤ 9 holds for three of six. Of 69 occurrences ≤ 20 holds for 29.
    adaptation = {
        name: Counter({"x.verb": count}) for name, count in {"Besieging": 40, "Taking": 9, "Digging": 20}.items()
    }
    table, metrics = factor_table(EXAMPLES, corpora(adaptation=adaptation), both)
    assert table["f0"].to_pylist() == table["f0_other"].to_pylist() == [False, False, True, True, False, True]
    assert table["f3_other"].to_pylist() == [None, True, None, None, None, None]
    assert (metrics["f3_other_share"], metrics["f3_other_uncounted"]) == (1 / 6, 5)
    assert [name for name in table.schema.names if name.endswith("_other")] == ["f0_other", "f3_other"]
    # Besieging's 40 are the fewer half of 40 + 60, three of six examples have more than 7.
    often = {name: Counter({"x.verb": count}) for name, count in {"Besieging": 40, "Taking": 7, "Digging": 60}.items()}
    table, _ = factor_table(EXAMPLES, corpora(adaptation=often), both)
    assert table["f0"].to_pylist() == [False, False, True, True, False, True]
    assert table["f0_other"].to_pylist() == [True] * 6


def test_inflections():
    known = Inflections([("prit", "prendre"), ("assiègent", "assiéger"), ("porte", "porter"), ("porte", "porte")])
    assert len(known) == 3
    assert known.presence("prendre", "Qui PRIT la ville ?") == "lemma"
    assert known.presence("prendre", "Qui veut prendre la ville ?") == "lemma"
    assert known.presence("prendre", "Qui l’assiège ?") is None
    assert known.presence("assiéger", "Qui l’assiégeait ?") == "stem"
    assert known.presence("porte", "Où est la porte ?") == "lemma"
    assert known.presence("porter", "Qui porte cela ?") == "homograph"
    assert known.presence("porter", "Qui porte cela et peut le porter ?") == "lemma"
    # A known form of another lemma is no inflection, whatever its stem, ...
    assert Inflections([("installation", "installation")]).presence("installer", "Quelle installation ?") is None
    assert known.presence("prendre fin", "Quand cela prit-il fin ?") == "lemma"
    assert known.presence("prendre fin", "Quand cela prit-il ?") is None
    assert known.presence("porter secours", "Qui lui porte secours ?") == "homograph"


@pytest.mark.parametrize(
    ("form", "other", "lemma"),
    [
        ("attaque", "attaque", "attaquer"),
        ("aides", "aide", "aider"),
        ("arrivée", "arrivée", "arriver"),
        ("assiégés", "assiégé", "assiéger"),
        ("attaques", "attaquer", "attaque"),
    ],
)
def test_a_regular_form_known_by_another_lemma_alone_is_found(form, other, lemma):
    # ... unless it is spelt as a regular form of the trigger.
    assert Inflections([(form, other)]).presence(lemma, f"Où est-ce que cela {form} ?") == "spelling"


def test_f3_agrees_with_the_gold_lemmas_of_the_sample_world():
    world = build_french(0, train=300, validation=60, evaluation=300, frame_texts=200)
    known = known_inflections(world.syntax, [*world.texts["train"], *world.texts["test"]])
    found = [known.presence(each.frame.lexical_unit.lemma, each.question) for each in world.examples]
    gold = [
        each.frame.lexical_unit.lemma
        not in {token.lemma for tree in world.question_syntax[each.id] for token in tree.tokens}
        for each in world.examples
    ]
    right = [(kind is None) == absent for kind, absent in zip(found, gold, strict=True) if kind != "stem"]
    assert len(right) >= 0.95 * len(gold)
    assert sum(right) >= 0.97 * len(right)


def test_f4_counts_arcs():
    # assiègent → Gaulois 1, → ville 1; Les Gaulois stand in another sentence than prennent; prennent → camp 1;
    # siège → ville → Hannon 2; the trigger "chute" is in its own answer.
    values, metrics = column("f4")
    assert values == [False, False, None, False, True, None]
    assert column("f4_arcs")[0] == [1, 1, None, 1, 2, 0]
    assert column("trigger_in_answer")[0] == [False] * 5 + [True]
    assert metrics["f4_other_sentence"] == metrics["f4_trigger_in_answer"] == 1
    assert metrics["f4_no_token"] == 0
    assert metrics["f4_uncounted"] == 2
    assert column("f4", f4_arcs=3)[0] == [False, False, None, False, False, None]


def test_arcs_of_a_path_that_goes_up_and_down():
    # printemps ← assiègent → Gaulois
    assert arcs(SYNTAX["t1"], span(FIRST, "printemps"), LES_GAULOIS) == ("path", 2)
    assert arcs(SYNTAX["t1"], span(FIRST, "vieille"), LES_GAULOIS) == ("path", 3)
    assert arcs(SYNTAX["t1"], LES_GAULOIS, span(FIRST, "vieille")) == ("path", 3)


def test_f5_counts_elements():
    assert column("f5_elements")[0] == [3, 3, 2, 2, 2, 1]
    assert column("f5")[0] == [False, False, True, True, True, True]
    assert all(column("f5", f5_elements=3)[0])


def test_f5_counts_an_element_in_two_parts_once():
    first = FALL.elements[0]
    parts = (first, replace(first, span=Span(first.span.start + 2, first.span.end)))
    element = replace(first, name="Place")
    example = replace(EXAMPLES[5], frame=replace(FALL, elements=(*parts, element)))
    assert column("f5_elements", examples=[example])[0] == [2]
    assert column("f5", examples=[example])[0] == [True]


def test_names_follow_the_parameters(world):
    run(world)
    assert read_names(world / "factors.parquet") == labels()
    assert labels()["f4"] == "two arcs or more between trigger and answer"
    run(world, f3_reading="both", f4_arcs=1, f5_elements=12)
    names = read_names(world / "factors.parquet")
    assert names["f3"] == "trigger absent from question and answer"
    assert names["f4"] == "one arc or more between trigger and answer"
    assert names["f5"] == "12 frame elements or fewer"


def test_f6_is_entropy_above_its_mean_over_the_examples():
    # Besieging: assiéger twice, siège once; Taking: prendre alone; Falling does not occur in training.
    values, metrics = column("f6")
    assert column("f6_entropy")[0] == pytest.approx([BESIEGING_BITS] * 2 + [0] * 2 + [BESIEGING_BITS] + [None])
    assert values == [True, True, False, False, True, None]
    assert metrics["f6_threshold"] == pytest.approx(3 * BESIEGING_BITS / 5)
    assert metrics["f6_uncounted"] == 1
    assert column("f6", f6_threshold=BESIEGING_BITS)[0] == [False] * 5 + [None]  # above, not at


def test_shares_are_of_all_examples_and_balance_is_cramers_v():
    _, metrics = column("f5")
    assert metrics["f5_share"] == pytest.approx(4 / 6)
    assert metrics["f6_share"] == pytest.approx(3 / 6)
    assert 0 < metrics["f5_balance"] <= 1
    assert 0 <= metrics["f5_balance_corrected"] <= metrics["f5_balance"]
    assert "f6_balance" in metrics


@pytest.fixture
def world(tmp_path):
    write_texts(tmp_path / "texts.jsonl", TEXTS)
    write_texts(tmp_path / "training.jsonl", TRAINING)
    write_examples(tmp_path / "questions.jsonl", EXAMPLES)
    write_conllu(tmp_path / "syntax.conllu", SYNTAX, {"t1": FIRST, "t2": SECOND})
    frames = [name for name, count in ADAPTATION.items() for _ in range(count)]
    table = {"frame": frames, "lemma": ["x"] * len(frames), "part_of_speech": ["verb"] * len(frames)}
    write_table(tmp_path / "frames.parquet", pa.table(table))
    return tmp_path


def run(folder, **changes):
    return main(
        AnyFactors(**{factor.name: factor.parameters for factor in asked(**changes)}),
        questions=folder / "questions.jsonl",
        texts=folder / "texts.jsonl",
        training=folder / "training.jsonl",
        syntax=folder / "syntax.conllu",
        adaptation=folder / "frames.parquet",
        out=folder / "factors.parquet",
    )


def test_the_stage_writes_the_table(world):
    metrics = run(world)
    written, expected = factor_table(EXAMPLES, corpora(), asked())
    assert metrics == expected
    assert read_table(world / "factors.parquet").equals(written)
    assert read_table(world / "factors.parquet").schema.names == [
        *("id", "text_id", "frame", "answer_element"),
        *FACTORS,
        *("f0_count", "f4_arcs", "f4_case", "f5_elements", "f6_entropy", "trigger_in_answer"),
    ]
    table = read_factors(world / "factors.parquet")
    assert table.ids == ("q0", "q1", "q2", "q3", "q4", "q5")
    assert table.factors[table.names.index("f4")].tolist() == [0, 0, -1, 0, 1, -1]
    assert table.frames.tolist() == [each.frame.frame for each in EXAMPLES]
    assert NOMINAL.frame in table.frames
    assert FALL.frame in table.frames
