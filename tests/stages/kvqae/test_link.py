"""Links: distances by hand, every reason for no link, and that order does not matter."""

import pytest

from tests.kvqae.tiny_construction import article, mention, write_lines, write_triviaqa
from trivium.formats.triviaqa import read_triviaqa
from trivium.kvqae.construction.linking import link_mentions, mention_distance, read_linked_articles

ARTICLES = [
    article("1", "Ada Lark", "Ada Lark was born in Tarn.", item="Q1", aliases=["A. Lark", "The Nightingale"]),
    article("2", "Ada Lark (ship)", "A ship, built in Tarn.", item="Q2"),
    article("3", "Bo Finch", "Section::::Life", "BULLET::::- 1912: Port Vell"),
    article("4", "Port Vell", "A town.", item="Q4"),
]


@pytest.mark.parametrize(
    ("surface", "name", "distance"),
    [
        ("Ada Lark", "Ada Lark", 0),
        ("Lark", "Ada Lark", 1 / 2),
        ("Lark's", "Lark", 0),
        ("the Iron Span", "Iron Span Bridge", 2 / 3),
        ("Ada", "Bo", 1),
        ("'s", "'s", 1),  # nothing to compare
    ],
)
def test_distance_by_hand(surface, name, distance):
    assert mention_distance(surface, name) == pytest.approx(distance)


def link(folder, questions, mentions, *, articles=ARTICLES, max_distance=0.5):
    """Link them; returns metrics, and rows by (question, mention)."""
    asked = {q.id: q for q in read_triviaqa(write_triviaqa(folder / "triviaqa.json", questions))}
    linked = read_linked_articles(write_lines(folder / "articles.jsonl", articles), asked.values())
    rows, metrics = link_mentions(mentions, asked, linked, max_distance=max_distance)
    return metrics, {(row["question"], row["text"][row["start"] : row["end"]]): row for row in rows}


def one(folder, surface, links, answers=("Tarn",), **options):
    """Link one mention; returns its title, or the reason why there is none."""
    text = f"Where was {surface} made?"
    asked = [mention("q", text, surface)]
    metrics, rows = link(folder, {"q": (text, list(answers), links)}, asked, **options)
    if rows:
        return rows["q", surface]["title"]
    return next(name for name in metrics if name not in ("mentions",) and metrics[name])


@pytest.mark.parametrize(
    ("surface", "links", "answers", "expected"),
    [
        ("Ada Lark", ["Ada Lark", "Port Vell"], ["Tarn"], "Ada Lark"),
        ("Lark", ["Ada_Lark"], ["Nowhere", "tarn!"], "Ada Lark"),  # an alias of the answer, normalised
        ("the nightingale", ["Ada Lark"], ["Tarn"], "Ada Lark"),  # an alias of the entity
        ("Ada Lark", ["Ada Lark (ship)", "Ada Lark"], ["Tarn"], "Ada Lark"),  # a tie, by title
        ("Ada Lark", ["Ada Lark", "Ada Lark (ship)"], ["a ship"], "Ada Lark (ship)"),  # the other has no answer
        ("Bo Finch", ["Bo Finch"], ["Port Vell"], "Bo Finch"),  # in a list of the article
        ("Ada Lark", [], ["Tarn"], "no_link"),
        ("Grete Moor", ["Ada Lark", "Bo Finch"], ["Tarn"], "distance_too_large"),
        ("Cy Wren", ["Cy Wren"], ["Tarn"], "no_article"),
        ("Ada Lark", ["Ada Lark"], ["Tar"], "answer_not_in_article"),
        ("Ada Lark", ["Cy Wren", "Lark", "Ada Lark"], ["Vell"], "answer_not_in_article"),  # came furthest
    ],
)
def test_every_way_to_link_or_not(tmp_path, surface, links, answers, expected):
    assert one(tmp_path, surface, links, answers) == expected


QUESTIONS = {
    "q1": ("Was Ada Lark or Bo Finch born in a town?", ["Tarn", "Port Vell"], ["Bo Finch", "Ada Lark"]),
    "q2": ("What is Cy Wren's town?", ["Tarn"], ["Cy Wren"]),
}
MENTIONS = [
    mention("q1", QUESTIONS["q1"][0], "Ada Lark"),
    mention("q1", QUESTIONS["q1"][0], "Bo Finch"),
    mention("q2", QUESTIONS["q2"][0], "Cy Wren"),
]


def test_each_mention_is_a_question_of_its_own_and_the_counts_add_up(tmp_path):
    metrics, rows = link(tmp_path, QUESTIONS | {"q3": ("No mention?", ["Tarn"], ["Ada Lark"])}, MENTIONS)
    assert rows.keys() == {("q1", "Ada Lark"), ("q1", "Bo Finch")}
    row = rows["q1", "Ada Lark"]
    assert (row["title"], row["wikipedia_id"], row["wikidata_id"], row["distance"]) == ("Ada Lark", "1", "Q1", 0)
    assert row["names"] == ["Ada Lark", "A. Lark", "The Nightingale"]
    assert (row["answer"], row["answers"]) == ("Tarn", ["Tarn", "Port Vell"])
    assert rows["q1", "Bo Finch"]["wikidata_id"] is None
    assert metrics == {
        "mentions": 3,
        "linked": 2,
        "linked_questions": 1,
        "kept_share": 2 / 3,
        "no_link": 0,
        "distance_too_large": 0,
        "no_article": 1,
        "answer_not_in_article": 0,
        "claimed_by_nearer_mention": 0,
    }


CASTLES = [
    article("1", "Linerulf Castle", "Owned by the Tarns.", item="Q1", aliases=["Castle Linerulf", "Seat of Tarn"]),
    article("2", "Ulvahild Castle", "Owned by the Wrens."),
]


@pytest.mark.parametrize(
    ("text", "surfaces", "kept"),
    [
        (
            "Unlike Ulvahild Castle, Linerulf Castle had which family as owner?",
            ["Ulvahild Castle", "Linerulf Castle"],
            1,
        ),
        ("Unlike the Castle, Castle Linerulf had?", ["the Castle", "Castle Linerulf"], 2),  # its name in short
        ("Who had Linerulf's Castle, the Linerulf Castle?", ["Linerulf's", "the Linerulf Castle"], 2),
        ("Is the Linerulf Castle Seat of Tarn?", ["the Linerulf Castle", "Seat of Tarn"], 2),  # both are names
        ("Ulvahild Castle or Birka Castle?", ["Ulvahild Castle", "Birka Castle"], 2),  # none is nearer
        ("Ulvahild Castle or Ulvahild Linerulf Castle?", ["Ulvahild Castle", "Ulvahild Linerulf Castle"], 1),
    ],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_of_mentions_with_one_article_those_that_name_another_entity_are_left_out(tmp_path, text, surfaces, kept, turn):
    asked = [mention("q", text, surface) for surface in surfaces][::turn]
    other = mention("q2", "Had Ulvahild Castle a ghost?", "Ulvahild Castle")
    questions = {
        "q": (text, ["the Tarns"], ["Linerulf Castle", "Ulvahild Castle"]),
        "q2": (other.text, ["the Tarns"], ["Linerulf Castle"]),
    }
    metrics, rows = link(tmp_path, questions, [*asked, other], articles=CASTLES)
    assert sorted(surface for question, surface in rows if question == "q") == sorted(surfaces[-kept:])
    assert ("q2", "Ulvahild Castle") in rows  # another question's mentions are not its business
    assert {row["title"] for row in rows.values()} == {"Linerulf Castle"}
    assert metrics["claimed_by_nearer_mention"] == 2 - kept
    assert metrics["linked"] == kept + 1


def test_the_order_of_all_inputs_does_not_matter(tmp_path):
    metrics, rows = link(tmp_path, QUESTIONS, MENTIONS)
    turned = dict(reversed([(name, (*rest, links[::-1])) for name, (*rest, links) in QUESTIONS.items()]))
    assert link(tmp_path, turned, MENTIONS[::-1], articles=ARTICLES[::-1]) == (metrics, rows)
