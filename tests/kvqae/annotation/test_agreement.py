"""Agreement and edits, by hand on five questions; which annotation counts."""

import pytest

from tests.kvqae.annotated_world import record, write_generated
from trivium.kvqae.annotation.project import Annotation, agreement, decisions, edit_statistics, settle
from trivium.measures.agreement import fleiss_kappa

RECORDS = [record(n) for n in (0, 2, 4, 6, 8)]


@pytest.fixture
def questions(tmp_path):
    return write_generated(tmp_path / "g.jsonl", RECORDS)


def discard(number):
    return Annotation(number, f"A{number}", "overspecified", None, None)


def kept(number, made, text=None, place=0):
    return Annotation(number, f"A{number}", None, text or made["input"], made["images"][place])


def test_a_discard_counts_as_a_change_of_both(questions):
    made, question = RECORDS[0], questions[RECORDS[0]["id"]]
    assert decisions(discard(1), question) == (True, True, True)
    assert decisions(kept(1, made), question) == (False, False, False)
    assert decisions(kept(1, made, "Who?"), question) == (False, True, False)
    assert decisions(kept(1, made, place=1), question) == (False, False, True)
    assert decisions(kept(1, made, made["input"].replace(" ", "  ")), question) == (False, False, False)


def test_kappa_is_over_questions_of_three_or_more(questions):
    a, b, c, d, e = RECORDS
    annotations = {
        a["id"]: [discard(1), discard(2), kept(3, a, "Who?", 1)],
        b["id"]: [kept(1, b), kept(2, b, "Who?"), discard(3), kept(4, b, place=2)],
        c["id"]: [kept(1, c), kept(2, c), kept(3, c)],
        d["id"]: [discard(1), kept(2, d)],
        e["id"]: [discard(1)],
    }
    metrics = agreement(annotations, questions, 3)
    assert metrics["agreement_questions"] == 3
    # (no, yes) of each question
    assert metrics["kappa_discard"] == fleiss_kappa([[1, 2], [3, 1], [3, 0]])
    assert metrics["kappa_change_question"] == fleiss_kappa([[0, 3], [2, 2], [3, 0]])
    assert metrics["kappa_change_image"] == fleiss_kappa([[0, 3], [2, 2], [3, 0]])
    # By hand: P̄ = (1/3 + 1/2 + 1) / 3 = 11/18; p(yes) = (2/3 + 1/4 + 0) / 3 = 11/36, P̄ₑ = (11² + 25²) / 36².
    chance = (11**2 + 25**2) / 36**2
    assert metrics["kappa_discard"] == pytest.approx((11 / 18 - chance) / (1 - chance))
    assert agreement(annotations, questions, 2)["agreement_questions"] == 4
    assert agreement(annotations, questions, 5) == {"agreement_questions": 0}


def test_the_majority_discards_and_the_earliest_that_keeps_it_counts():
    a = RECORDS[0]
    first, second = kept(2, a, "Who?"), kept(5, a, "Where?")
    assert settle([discard(1)]) is None
    assert settle([discard(1), discard(3), first]) is None
    assert settle([discard(1), second, first]) is first
    assert settle([second, discard(1)]) is second  # a tie is no majority
    assert settle([]) is None


def test_edits_are_counted_in_words(questions):
    a, b, c, d, e = RECORDS
    shorter = " ".join(a["input"].split()[:-2])  # 2 words
    longer = f"{b['input']} Please say the place"  # 4 words
    made = {a["id"]: kept(1, a, shorter), b["id"]: kept(2, b, longer, 1), c["id"]: kept(3, c), d["id"]: kept(4, d)}
    expected = {"edited_share": 2 / 4, "other_image_share": 1 / 4, "edit_words": (2 + 4) / 2}
    assert edit_statistics(made, questions) == expected
    assert edit_statistics({e["id"]: kept(1, e)}, questions) == {"edited_share": 0, "other_image_share": 0}
    assert edit_statistics({}, questions) == {}
