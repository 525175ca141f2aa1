"""Generated questions: what a question becomes, what is dropped for which reason, and that row order does not matter."""

from dataclasses import asdict

import pytest

from tests.kvqae.tiny_construction import mention
from trivium.core.errors import BadInput
from trivium.core.tables import write_json_lines
from trivium.kvqae.construction.generation import REASONS, generate_questions, read_generated

ADA = {
    "title": "Ada Lark (poet)",
    "wikipedia_id": "1",
    "wikidata_id": "Q1",
    "names": ["Ada Lark (poet)", "Ada Lark", "The Nightingale", "The Who"],
    "answer": "Tarn",
    "answers": ["Tarn", "Tarn, Dor"],
    "types": ["human"],
    "occupations": ["poet", "spy"],
    "gender": "female",
    "human": True,
    "reference": "Ada.jpg",
}
SPAN = ADA | {
    "title": "Iron Span",
    "wikidata_id": "Q2",
    "names": ["Iron Span", "The Span"],
    "types": ["bridge"],
    "occupations": [],
    "gender": None,
    "human": False,
}


def run(rows, *, seed=0, images=None, shown=("a.jpg", "b.jpg")):
    """Generate from (subject, mention); every question has images unless told. Returns metrics and records."""
    subjects = [subject | asdict(asked) for subject, asked in rows]
    keys = [asked.key for _, asked in rows] if images is None else images
    records, metrics = generate_questions(subjects, {key: list(shown) for key in keys}, seed=seed)
    return metrics, records


def ask(subject, text, surface, *, seed=0, **fields):
    return run([(subject, mention("q", text, surface, **fields))], seed=seed)


def test_a_question_about_a_bridge(tmp_path):
    asked = mention("tc_7", "Who built the Iron Span in 1911?", "Iron Span", "dobj", subtree_start=10)
    metrics, records = run([(SPAN, asked)])
    assert records == [
        {
            "id": "tc_7_14",
            "input": "Who built this bridge in 1911?",
            "original_question": "Who built the Iron Span in 1911?",
            "mention": "Iron Span",
            "names": ["Iron Span", "The Span"],
            "mention_type": "type",
            "ambiguous_mention": "this bridge",
            "other_mentions": [],
            "answer": {"original_answer": "Tarn", "answer": ["Tarn", "Tarn, Dor"]},
            "wikidata_id": "Q2",
            "kilt_id": "1",
            "title": "Iron Span",
            "human": False,
            "reference": "Ada.jpg",
            "images": ["a.jpg", "b.jpg"],
            "image": "a.jpg",
        }
    ]
    assert (metrics["generated"], metrics["mention_type"], metrics["persons"]) == (1, 1, 0)
    write_json_lines(tmp_path / "generated.jsonl", records)
    question = read_generated(tmp_path / "generated.jsonl")["tc_7_14"]
    assert (question.source, question.original_answer, question.answers) == ("tc_7", "Tarn", ("Tarn", "Tarn, Dor"))
    del records[0]["answer"]["answer"]
    write_json_lines(tmp_path / "generated.jsonl", records)
    with pytest.raises(BadInput, match=r"generated.jsonl:1: field 'answer.answer': Field required"):
        read_generated(tmp_path / "generated.jsonl")


def test_drawn_and_other_mentions_are_all_that_are_possible():
    types = set()
    for seed in range(30):
        _, (record,) = ask(ADA, "Who hired Ada Lark?", "Ada Lark", dependency="dobj", seed=seed)
        types.add(record["mention_type"])
        assert record["input"] == f"Who hired {record['ambiguous_mention']}?"
        mentions = {record["ambiguous_mention"], *record["other_mentions"]}
        assert mentions == {"this poet", "this spy", "this woman", "her"}
        assert len(record["other_mentions"]) == 3
    assert types == {"occupation", "gender", "pronoun"}


@pytest.mark.parametrize(
    ("subject", "text", "surface", "reason"),
    [
        (ADA | {"occupations": [], "gender": None}, "Who hired Ada Lark?", "Ada Lark", "no_mention"),
        (ADA, "Ada Lark, alias the nightingale, was who?", "Ada Lark", "name_remains"),
        (ADA, "Was Ada Lark of Tarn?", "Ada Lark", "answer_in_question"),
        (ADA | {"answers": ["woman"], "occupations": [], "gender": "female"}, "Is Ada Lark it?", "Ada Lark", None),
        (SPAN | {"answers": ["bridge"]}, "What is Iron Span?", "Iron Span", "answer_in_question"),
        (SPAN | {"names": ["Bridge"]}, "What is Iron Span?", "Iron Span", "name_remains"),
        (ADA, "Who was Ada Lark?", "Ada Lark", None),  # "Who" is not "The Who"
        (ADA, "Was Ada Lark a Tarnish poet?", "Ada Lark", None),  # a word that begins with the answer
    ],
)
def test_every_reason_to_drop_a_question(subject, text, surface, reason):
    metrics, records = ask(subject, text, surface)
    assert {name for name in REASONS if metrics[name]} == ({reason} if reason else set())
    assert len(records) == (reason is None)


def test_a_mention_that_gives_the_answer_away_is_not_possible():
    for seed in range(20):
        _, (record,) = ask(ADA | {"answers": ["a poet"]}, "What was Ada Lark?", "Ada Lark", seed=seed)
        mentions = [record["ambiguous_mention"], *record["other_mentions"]]
        assert sorted(mentions) == ["she", "this spy", "this woman"]


def test_two_entities_make_two_questions_and_two_mentions_of_one_make_one():
    text = "Did Ada Lark see the Iron Span?"
    both = [(ADA, mention("q", text, "Ada Lark")), (SPAN, mention("q", text, "Iron Span", subtree_start=17))]
    metrics, records = run(both)
    assert len(records) == metrics["generated"] == 2
    assert metrics["from_trivia_questions"] == 1
    assert records[1]["input"] == "Did Ada Lark see this bridge?"

    text = "Ada Lark was a spy. Where is Ada Lark's grave?"
    second = mention("q", text, "Ada Lark's", "poss", possessive=True)
    twice = [(ADA, second), (ADA, mention("q", text, "Ada Lark"))]
    metrics, (record,) = run(twice)
    assert record["id"] == "q_0"
    first = record["ambiguous_mention"]
    assert record["input"] == f"{first[0].upper()}{first[1:]} was a spy. Where is her grave?"
    assert metrics["repeated_mention"] == 1


def test_row_order_does_not_matter_and_the_seed_does():
    rows = [(ADA, mention(f"q{number}", "Who hired Ada Lark?", "Ada Lark", "dobj")) for number in range(40)]
    metrics, records = run(rows)
    turned_metrics, turned = run(rows[::-1])
    assert turned[::-1] == records
    assert turned_metrics == metrics
    assert run(rows)[1] == records
    assert run(rows, seed=1)[1] != records
