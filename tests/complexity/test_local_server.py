"""Prompted models against a real server of this machine, `transformers serve`, with a tiny Llama."""

import pytest
from transformers import AutoTokenizer

from tests.complexity.local_server import serving, write_chat_template
from tests.complexity.tiny_generators import write_llama
from tests.stages.complexity.test_prompt import INSTRUCTION, predictions, run, world  # noqa: F401 - a fixture
from trivium.complexity.prompting import draw_examples, messages_of
from trivium.formats.frame_corpora import read_examples
from trivium.formats.squad import read_squad


@pytest.mark.slow
def test_a_small_model_answers_through_a_real_server(world, tmp_path):  # noqa: F811
    folder = write_llama(tmp_path / "llama")
    write_chat_template(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = {"model": str(folder), "max_tokens": 6, "timeout_s": 60.0, "parallel": 2}
    with serving(folder) as address:
        metrics = run(world, tiny={"endpoint": address, **model})
        assert metrics["tiny_requests"] == 12
        assert "tiny_retries" not in metrics
        answers = predictions(world).answers
        assert predictions(world).missing == 0
        # What the server counts is the prompt that the examples and questions make.
        training = read_squad(world / "train.json").questions
        examples = read_examples(world / "questions.jsonl", world / "texts.jsonl")
        shown = draw_examples(training, 2, 0, {each.text.text for each in examples})
        chats = [messages_of(INSTRUCTION, shown, each.question, each.text.text) for each in examples]
        prompts = [tokenizer.apply_chat_template(chat, tokenize=False) for chat in chats]
        tokens = sum(len(tokenizer(prompt)["input_ids"]) for prompt in prompts)
        assert abs(metrics["tiny_prompt_tokens"] - tokens) <= len(prompts)  # a start token more or less
        assert 0 < metrics["tiny_completion_tokens"] <= 6 * 12
        # The same with what some servers want instead of max_tokens; it is another question, and asked.
        other = {"omit": ["max_tokens", "temperature"], "extra": {"max_completion_tokens": 6, "seed": 1}}
        again = run(world, tiny={"endpoint": address, **model, **other})
        assert (again["tiny_requests"], again["tiny_refused"]) == (12, 0)
        assert predictions(world).missing == 0
    run(world, tiny={"endpoint": address, **model})
    # It is gone, and nothing is asked again.
    assert run(world, tiny={"endpoint": address, **model})["tiny_cached"] == 12
    assert predictions(world).answers == answers
