"""The analysis without frames: factors on paper, effects against scipy, any SQuAD set."""

import csv

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from stages.complexity import analyse
from stages.complexity.analyse import AnalyseParameters
from trivium.complexity.effects.analysis import holm_table
from trivium.complexity.effects.effect_rows import COLUMNS, effect_rows
from trivium.complexity.effects.question_set import best_rouge_l
from trivium.complexity.factors.free_factors import free_factors, syntax_factors, text_properties
from trivium.complexity.scoring.baselines import best_overlap_sentence
from trivium.errors import BadInput
from trivium.formats.conllu import Sentence, Token, write_conllu
from trivium.formats.framed_texts import Span
from trivium.formats.predictions import write_predictions
from trivium.formats.squad import SquadQuestion, read_squad, write_squad

TEXT = "La reine Aude fonda un vaste port. Les marchands quittèrent le port."
KEYS = {"risk": 0.05, "smallest_set": 1, "confidence": 0.95, "resamples": 300, "seed": 0}


def asked(question, answer, context=TEXT, identifier="q"):
    return SquadQuestion(identifier, "t", context, question, ((answer, context.index(answer)),))


def tree():
    """La reine Aude fonda un vaste port: fonda governs reine (Aude) and port (vaste)."""
    forms = ["La", "reine", "Aude", "fonda", "un", "vaste", "port", "."]
    heads = [2, 4, 2, 0, 7, 7, 4, 4]
    kinds = ["DET", "NOUN", "PROPN", "VERB", "DET", "ADJ", "NOUN", "PUNCT"]
    lemmas = {"fonda": "fonder", "La": "le"}
    tokens, cursor = [], 0
    for number, (form, head, kind) in enumerate(zip(forms, heads, kinds, strict=True), 1):
        start = TEXT.index(form, cursor)
        cursor = start + len(form)
        tokens.append(Token(number, form, lemmas.get(form, form), kind, head, "dep", Span(start, cursor)))
    return Sentence(tuple(tokens), Span(0, cursor))


def test_properties_are_counted_on_paper():
    # Content words: port, fonda. The answer's sentence has both, the other one.
    found = text_properties(asked("Qui fonda le port ?", "La reine Aude"))
    assert found == {
        "overlap": 1.0,
        "rival": 0.5 - 1.0,
        "distance": 0.0,  # fonda follows Aude
        "answer_words": 3.0,
        "position": 0.0,
        "text_words": 12.0,
    }
    found = text_properties(asked("Qu'est-ce que la reine fit ?", "port"))
    assert (found["overlap"], found["distance"]) == (0.5, 4.0)  # between reine and port: Aude fonda un vaste
    assert text_properties(asked("Qui partit du port ?", "Les marchands"))["rival"] == 0.0
    nothing = text_properties(asked("Qui est-ce ?", "marchands"))
    assert (nothing["overlap"], nothing["rival"], nothing["distance"]) == (None, None, None)
    assert text_properties(asked("Qui mange ?", "marchands"))["distance"] is None


def test_syntax_factors():
    trees = [tree()]
    # reine → fonda: 1 arc; the governor fonda is a verb and in the question.
    assert syntax_factors(asked("Qui fonda le port ?", "La reine Aude"), trees) == {
        "far_arcs": False,
        "nominal_governor": False,
        "governor_absent": False,
    }
    # vaste → port → fonda → reine: 3 arcs; the governor port is a noun that the question does not name.
    assert syntax_factors(asked("Que fit la reine ?", "vaste"), trees) == {
        "far_arcs": True,
        "nominal_governor": True,
        "governor_absent": True,
    }
    # The answer is the whole sentence's root: nothing governs it; no tree holds the answer: nothing is known.
    assert syntax_factors(asked("Que fit la reine ?", "fonda"), trees)["nominal_governor"] is None
    assert set(syntax_factors(asked("Qui fuit ?", "Les marchands"), trees).values()) == {None}


def test_cuts_split_the_set_most_evenly_and_a_constant_property_is_no_factor():
    questions = [
        asked("Qui fonda le port ?", "La reine Aude"),  # overlap 1
        asked("Que fit la reine ?", "un vaste port"),  # overlap 1/2 (fit is a content word)
        asked("Qui mange du sel ?", "Les marchands"),  # 0
        asked("Qui est-ce ?", "Les marchands"),  # no content word
    ]
    codes, cuts = free_factors(questions, None)
    assert codes["low_overlap"].tolist() == [0, 0, 1, -1]
    assert codes["long_answer"].tolist() == [1, 1, 0, 0]
    assert codes["late_answer"].tolist() == [0, 0, 1, 1]
    assert codes["rival_sentence"].tolist() == [0, 0, 1, -1]
    assert (cuts["long_answer"], cuts["low_overlap"]) == (2.0, 0.0)
    assert "long_text" not in codes
    assert "far_arcs" not in codes
    assert set(free_factors(questions, {TEXT: [tree()]})[0]) - set(codes) == {
        "far_arcs",
        "nominal_governor",
        "governor_absent",
    }


def planted(n=600, seed=0):
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(-1, 2, size=n).astype(np.int8) for name in ("hard", "idle")}
    score = np.clip(0.7 - 0.2 * (codes["hard"] == 1) + 0.25 * rng.normal(size=n), 0, 1)
    return {"m": score, "flat": np.full(n, 0.5)}, codes, [f"t{number // 4}" for number in range(n)]


def test_effects_are_scipys_and_the_formula():
    scores, codes, clusters = planted()
    rows = {(row["model"], row["factor"]): row for row in effect_rows(scores, codes, clusters, **KEYS)}
    assert [set(row) for row in rows.values()] == [set(COLUMNS)] * 4
    for factor, code in codes.items():
        yes, no = scores["m"][code == 1], scores["m"][code == 0]
        row = rows["m", factor]
        assert (row["yes"], row["no"]) == (len(yes), len(no))
        assert row["delta"] == pytest.approx(100 * (yes.mean() - no.mean()))
        assert row["delta_floor"] == np.floor(row["delta"])
        assert row["p"] == pytest.approx(mannwhitneyu(yes, no).pvalue)
    np.testing.assert_allclose(
        [row["p_holm"] for row in rows.values()], holm_table(np.array([row["p"] for row in rows.values()]))
    )
    hard, idle = rows["m", "hard"], rows["m", "idle"]
    assert hard["low"] < hard["delta"] < hard["high"] < 0
    assert hard["joint"] == pytest.approx(-20, abs=6)
    assert (hard["validated"], hard["significant"], hard["holm_significant"]) == (True, True, True)
    assert not idle["holm_significant"]
    assert (rows["flat", "hard"]["delta"], rows["flat", "hard"]["p"]) == (0, 1)


def test_an_empty_side_has_no_effect():
    scores, codes, clusters = planted(40)
    codes["all"] = np.ones(40, dtype=np.int8)
    row = next(row for row in effect_rows(scores, codes, clusters, **KEYS) if row["factor"] == "all")
    assert (row["yes"], row["no"]) == (40, 0)
    assert all(row[name] is None for name in ("delta", "p", "p_holm", "low", "joint"))
    assert not row["validated"]


def test_a_set_that_is_too_small_is_as_if_the_factor_were_not_there():
    scores, codes, clusters = planted()
    codes["rare"] = np.where(np.arange(600) < 5, 1, 0).astype(np.int8)
    keys = KEYS | {"smallest_set": 6}
    with_rare = effect_rows(scores, codes, clusters, **keys)
    del codes["rare"]
    others = [row for row in with_rare if row["factor"] != "rare"]
    assert others == list(map(pytest.approx, effect_rows(scores, codes, clusters, **keys)))
    rare = [row for row in with_rare if row["factor"] == "rare"]
    assert [(row["yes"], row["no"]) for row in rare] == [(5, 595)] * 2
    assert {row[name] for row in rare for name in ("delta", "p", "p_holm", "low", "joint", "joint_p")} == {None}


def test_the_best_of_several_references_counts():
    question = SquadQuestion("q", "t", TEXT, "Qui ?", (("La reine Aude", 0), ("Aude", 9)))
    assert best_rouge_l([question], ["Aude"], "unicode").tolist() == [1.0]
    assert best_rouge_l([question], ["reine Aude"], "unicode").tolist() == [pytest.approx(2 * 2 / (3 + 2))]


def squad_set(folder, texts=30):
    """Every text has two questions; the second shares no content word with the answer's sentence."""
    questions = []
    for number in range(texts):
        context = f"Le comte n° {number} bâtit la tour {number}. Il pleuvait." + " Et encore." * (number % 3)
        questions.append(asked("Qui bâtit la tour ?", f"Le comte n° {number}", context, f"a{number}"))
        questions.append(asked("Quel ouvrage fut érigé ?", f"la tour {number}", context, f"b{number}"))
    write_squad(folder / "set.json", questions)
    good = {each.id: each.answers[0][0] for each in questions}
    write_predictions(folder / "good.jsonl", good)
    # The second model fails where no word helps.
    write_predictions(folder / "words.jsonl", {name: text if name[0] == "a" else "rien" for name, text in good.items()})
    return questions


def run(folder, *files, syntax=None):
    paths = [folder / file for file in files]
    parameters = AnalyseParameters(**KEYS)
    return analyse.main(
        parameters, None, squad=folder / "set.json", predictions=paths, syntax=syntax, out=folder / "out.csv"
    )


def read_rows(path):
    with path.open(encoding="utf-8") as file:
        return {(line["model"], line["factor"]): line for line in csv.DictReader(file)}


def test_a_squad_set_with_two_models(tmp_path):
    questions = squad_set(tmp_path)
    metrics = run(tmp_path, "good.jsonl", "words.jsonl")
    assert (metrics["questions"], metrics["contexts"], metrics["left_out"]) == (60, 30, 0)
    assert (metrics["good_rouge_l"], metrics["words_rouge_l"], metrics["words_em"]) == (1, 0.5, 0.5)
    assert metrics["low_overlap_share"] == 0.5
    rows = read_rows(tmp_path / "out.csv")
    assert tuple(rows["words", "low_overlap"]) == COLUMNS
    assert float(rows["words", "low_overlap"]["delta"]) == metrics["words_low_overlap_delta"] == -100
    assert rows["words", "low_overlap"]["holm_significant"] == "True"
    assert float(rows["good", "low_overlap"]["delta"]) == 0
    assert rows["good", "low_overlap"]["validated"] == "False"
    assert metrics["cells"] == len(rows)
    assert len(questions) == 60
    assert "mean_spearman" not in metrics, "nothing is hard for `good`"
    assert 0.5 <= metrics["concordance"] <= 1


def test_syntax_is_read_by_the_number_of_the_context(tmp_path):
    questions = [asked("Qui fonda le port ?", "La reine Aude"), asked("Que fit la reine ?", "vaste", identifier="r")]
    write_squad(tmp_path / "set.json", questions)
    write_predictions(tmp_path / "m.jsonl", {"q": "La reine Aude", "r": "port"})
    first = tree()
    rest = TEXT[first.span.end :].strip()
    span = Span(TEXT.index(rest), len(TEXT))
    # One token for the second sentence is enough here.
    second = Sentence((Token(1, rest, rest, "X", 0, "root", span),), span)
    write_conllu(tmp_path / "s.conllu", {"0": [first, second]}, {"0": TEXT})
    metrics = run(tmp_path, "m.jsonl", syntax=tmp_path / "s.conllu")
    assert (metrics["far_arcs_share"], metrics["nominal_governor_share"]) == (0.5, 0.5)
    assert metrics["m_far_arcs_delta"] == -100
    assert "far_arcs_share" not in run(tmp_path, "m.jsonl")


def test_models_are_named_by_file_or_folder(tmp_path):
    squad_set(tmp_path)
    (tmp_path / "t5").mkdir()
    (tmp_path / "good.jsonl").rename(tmp_path / "t5" / "seed-0.jsonl")
    assert run(tmp_path, "t5/seed-0.jsonl")["t5_em"] == 1
    with pytest.raises(BadInput, match="two files of one model; got 't5'"):
        run(tmp_path, "t5/seed-0.jsonl", "t5/seed-0.jsonl")
    write_predictions(tmp_path / "other.jsonl", {"x": "y"})
    with pytest.raises(BadInput, match=r"other\.jsonl: field 'id': no answer to any of the questions"):
        run(tmp_path, "other.jsonl")


@pytest.mark.real
def test_piaf_with_the_best_overlap_sentence(tmp_path, real):
    questions = read_squad(real("piaf") / "piaf-v1.0.json").questions
    answers = {each.id: best_overlap_sentence(each.question, each.context) for each in questions}
    write_predictions(tmp_path / "sentence.jsonl", answers)
    metrics = analyse.main(
        AnalyseParameters(**KEYS),
        None,
        squad=real("piaf") / "piaf-v1.0.json",
        predictions=[tmp_path / "sentence.jsonl"],
        out=tmp_path / "out.csv",
    )
    assert metrics["questions"] > 3800
    # A baseline made of overlap: it must fail exactly where the overlap does not lead to the answer.
    assert metrics["sentence_rival_sentence_delta"] < -10
    assert metrics["sentence_low_overlap_delta"] < -5
    assert metrics["sentence_rival_sentence_p_holm"] < 1e-6
    assert 0.35 < metrics["late_answer_share"] < 0.65
