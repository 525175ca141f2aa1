"""The language model as a judge, on a loopback endpoint; and κ of judges and people."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.complexity.difficulty.asked import answers, english_set
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.judges import HumanVerdicts, LlmJudge, kappa, read_verdicts, verdict
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.core.errors import BadInput
from trivium.prompting.answer_cache import Reply
from trivium.prompting.asking import EndpointModel

SET = english_set(20)
SETTINGS = DifficultySettings(judge="llm", resamples=50, smallest_set=4)


def judge(server, folder):
    values = {"label": "judge", "endpoint": server.address, "model": "tiny", "parallel": 2}
    limits = {"requests_per_minute": 1e6, "timeout_s": 5, "backoff_s": 0.01, "key_variable": None}
    return LlmJudge(EndpointModel(**values, **limits), folder)


def says(number, payload):
    """Yes to what names the harbour's ships."""
    answer = payload["messages"][0]["content"].partition("Answer to judge: ")[2].splitlines()[0]
    return said("Yes." if "ships" in answer else "no")


def paraphrased():
    """Right in other words where the answer is long; else wrong."""
    return {each.id: "in their ships" if each.id[0] == "l" else "somebody" for each in SET.questions}


def analyse(given, found, **options):
    return difficulty(SET, given, language="en", settings=SETTINGS, judge=found, say=lambda _: None, **options)


def test_the_judge_is_asked_once_for_each_answer_that_is_open_to_doubt(tmp_path):
    right = answers(SET, lambda each, luck: True) | {"s0": ""}
    with Loopback(says) as server:
        first = judge(server, tmp_path)
        found = analyse({"right": right, "other": paraphrased()}, first)
        asked = len(server.requests)
        assert found.scores["llm"]["right"].tolist() == [float(each.id != "s0") for each in SET.questions]
        assert found.scores["llm"]["other"].tolist() == [float(each.id[0] == "l") for each in SET.questions]
        assert found.scores["exact_match"]["other"].sum() == 0
        again = judge(server, tmp_path)
        analyse({"right": right, "other": paraphrased()}, again)
        assert len(server.requests) == asked, "verdicts are kept"
        assert again.counts["cached"] == asked
        prompt = server.requests[0][0]["messages"][0]["content"]
    assert "Question: " in prompt
    assert "Reference answers: " in prompt


def test_a_verdict_that_cannot_be_read_leaves_its_question_out(tmp_path):
    def mumbles(number, payload):
        return (
            said("Well, perhaps")
            if "Answer to judge: somebody" in payload["messages"][0]["content"]
            else says(number, payload)
        )

    one = answers(SET, lambda each, luck: each.id != "s3")  # "the days" where it is wrong
    one["s3"] = "somebody"
    with Loopback(mumbles) as server:
        found = analyse({"m": one}, judge(server, tmp_path))
        assert [each.id for each in found.questions] == [each.id for each in SET.questions if each.id != "s3"]
        assert any("1 questions on which a verdict of the judge cannot be read" in note for note in found.notes)
        with pytest.raises(BadInput, match="verdicts cannot be read; got '20 of 40 questions'"):
            analyse({"m": paraphrased()}, judge(server, tmp_path))


def test_a_verdict_is_the_first_word():
    for content, value in (("yes", 1), ("**No**, it is", 0), (" Yes, because", 1), ("'no'", 0)):
        assert verdict(Reply(content, "stop", 1, 1)) == value
    for content in ("", "I say yes", "nope"):
        assert np.isnan(verdict(Reply(content, "stop", 1, 1)))
    assert np.isnan(verdict(None))


def test_kappa_is_scikit_learns():
    rng = np.random.default_rng(0)
    ids = [f"q{n}" for n in range(80)]
    people = rng.random(80) < 0.6
    scores = np.where(rng.random(80) < 0.8, people, ~people).astype(float)
    verdicts = HumanVerdicts({"m": dict(zip(ids, people.tolist(), strict=True))}, {})
    found = kappa({"m": scores}, ids, verdicts, 0.95)
    assert found.value == pytest.approx(cohen_kappa_score(people, scores >= 0.5))
    assert found.low < found.value < found.high
    assert (found.answers, found.agreed) == (80, pytest.approx((scores == people).mean()))
    same = kappa({"m": np.ones(80)}, ids, verdicts, 0.95)
    assert (same.value, same.answers) == (None, 80)
    assert kappa({"m": scores[:0]}, [], verdicts, 0.95).answers == 0


def test_a_file_of_verdicts_gives_kappas(tmp_path):
    given = {"m": answers(SET, lambda each, luck: luck < 0.5)}
    path = tmp_path / "verdicts.csv"
    lines = ["id,model,annotator,verdict"]
    for each in SET.questions[:30]:
        right = given["m"][each.id] == each.answers[0]
        lines += [f"{each.id},m,{who},{'correct' if right else 'incorrect'}" for who in ("zoe", "ada")]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    settings = SETTINGS.model_copy(update={"judge": "rouge_l"})
    found = difficulty(SET, given, language="en", settings=settings, verdicts=path, say=lambda _: None)
    assert (found.kappas["exact_match"].value, found.kappas["exact_match"].answers) == (1, 30)
    assert set(found.kappas) == {"exact_match", "f1", "rouge_l"}
    assert found.verdicts.counts["kappa"] == 1
    path.write_text("id,model,annotator,verdict\ns0,n,zoe,correct\n", "utf-8")
    with pytest.raises(BadInput, match="unknown model; got 'n'"):
        read_verdicts(path, given)
