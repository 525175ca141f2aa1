"""Stage complexity-prompt: what is asked, what of it is scored, and answers that are never paid for twice."""

import json
from dataclasses import replace

import pytest
import yaml

from stages.complexity.prompt import PromptParameters, main
from tests.complexity.tiny_readers import questions
from tests.prompting.loopback_endpoint import Loopback, failed, said
from trivium.complexity.prompting import PromptedModel, draw_examples, extract, messages_of
from trivium.core.errors import BadInput
from trivium.core.stage import execute
from trivium.core.tables import read_json
from trivium.formats.answer_files import read_predictions
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.squad import write_squad

INSTRUCTION = "Recopie du document les mots qui répondent à la question."
MODEL = {
    "label": "Tiny",
    "endpoint": None,
    "model": "tiny",
    "examples": 2,
    "temperature": 0.0,
    "max_tokens": 20,
    "requests_per_minute": 60000.0,
    "parallel": 4,
    "timeout_s": 5.0,
    "retries": 2,
    "backoff_s": 0.01,
    "key_variable": None,
}


def example(number):
    """A text and a question of its own."""
    text = f"La légion {number} a détruit le camp."
    elements = tuple(
        FrameElement(name, Span(text.index(words), text.index(words) + len(words)), "core")
        for name, words in (("Agent", f"La légion {number}"), ("Patient", "le camp"))
    )
    start = text.index("détruit")
    frame = FrameInstance("Destroying", LexicalUnit("détruire", "verb", Span(start, start + 7)), elements)
    annotated = AnnotatedText(f"t{number}", "titre", text, (frame,), ())
    return Example(f"q{number}", annotated, "Qui l'a détruit ?", elements[0].span, frame, "Agent", (), ())


def reader(number, payload):
    """Answers as it should."""
    document = payload["messages"][-1]["content"].rsplit("Document : ", 1)[1]
    return said(document.split(" a détruit")[0])


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    examples = [example(number) for number in range(12)]
    write_texts(tmp_path / "texts.jsonl", [each.text for each in examples])
    write_examples(tmp_path / "questions.jsonl", examples)
    write_squad(tmp_path / "train.json", questions(30))
    return tmp_path


def arguments(world):
    return {
        "train": world / "train.json",
        "questions": world / "questions.jsonl",
        "texts": world / "texts.jsonl",
        "out_cache": world / "cache",
        "out": world / "prompted",
    }


def run(world, *, instruction=INSTRUCTION, **models):
    models = {name: PromptedModel.model_validate(MODEL | changes) for name, changes in models.items()}
    parameters = PromptParameters(seed=0, instruction=instruction, models=models)
    return main(parameters, **arguments(world))


def predictions(world, name="tiny"):
    return read_predictions(world / "prompted" / f"{name}.jsonl", [f"q{number}" for number in range(12)])


def test_a_model_is_shown_examples_and_asked_to_extract(world):
    with Loopback(reader) as server:
        metrics = run(world, tiny={"endpoint": server.address}, one={"endpoint": server.address, "examples": 1})
    assert predictions(world).answers == {f"q{number}": f"La légion {number}" for number in range(12)}
    assert metrics["tiny_run"] == metrics["one_run"] == 1
    assert metrics["tiny_questions"] == metrics["tiny_requests"] == metrics["tiny_verbatim"] == 12
    assert (metrics["tiny_cached"], metrics["tiny_talked"], metrics["tiny_refused"]) == (0, 0, 0)
    assert (metrics["tiny_prompt_tokens"], metrics["tiny_completion_tokens"]) == (120, 36)
    chats = {json.dumps(payload["messages"]): payload for payload, _, _ in server.requests}
    assert len(chats) == 24
    training = {each.context: each for each in questions(30)}
    for payload in chats.values():
        *shown, asked = payload["messages"]
        assert len(shown) in (2, 4)
        assert payload["messages"][0]["content"].startswith(INSTRUCTION + "\n\nDocument : ")
        assert asked["content"].endswith("a détruit le camp.\nQuestion : Qui l'a détruit ?\nRéponse :")
        for turn, given in zip(shown[::2], shown[1::2], strict=True):
            document = turn["content"].split("Document : ")[1].split("\nQuestion")[0]
            assert (turn["role"], given["role"]) == ("user", "assistant")
            assert given["content"] in document
            assert document in training
        assert payload["temperature"] == 0
        assert payload["max_tokens"] == 20
    prompts = read_json(world / "prompted" / "prompts.json")
    assert prompts["one"][:2] == prompts["tiny"][:2]


def test_without_an_endpoint_nothing_is_run(world):
    metrics = run(world, mixtral={}, gpt={"key_variable": "TRIVIUM_NO_SUCH_KEY"})
    assert metrics == {"cache_broken_lines": 0, "mixtral_run": 0, "gpt_run": 0}
    assert [path.name for path in (world / "prompted").iterdir()] == ["prompts.json"]
    assert set(read_json(world / "prompted" / "prompts.json")) == {"mixtral", "gpt"}


def test_a_rerun_asks_nothing(world):
    with Loopback(reader) as server:
        run(world, tiny={"endpoint": server.address})
        before = (world / "prompted" / "tiny.jsonl").read_bytes()
        # No key is needed for what is there.
        metrics = run(world, tiny={"endpoint": server.address + "/", "key_variable": "TRIVIUM_NO_SUCH_KEY"})
        assert len(server.requests) == 12
        assert metrics["tiny_cached"] == 12
        assert "tiny_requests" not in metrics
        assert (world / "prompted" / "tiny.jsonl").read_bytes() == before
        # Whatever decides an answer is part of its key.
        for changes in ({"temperature": 0.5}, {"max_tokens": 9}, {"examples": 0}, {"model": "other"}):
            already = len(server.requests)
            run(world, tiny={"endpoint": server.address, **changes})
            assert len(server.requests) == already + 12
        run(world, tiny={"endpoint": server.address}, instruction="Extrais.")
        assert len(server.requests) == 72


def test_refused_questions_have_no_answer_but_the_others_do(world):
    def behave(number, payload):
        return failed(400, "no") if "légion 3" in json.dumps(payload, ensure_ascii=False) else reader(number, payload)

    with Loopback(behave) as server:
        metrics = run(world, tiny={"endpoint": server.address})
        assert metrics["tiny_refused"] == predictions(world).missing == 1
        assert run(world, tiny={"endpoint": server.address})["tiny_requests"] == 1
    with Loopback(lambda *_: failed(400, "no such option")) as server:
        with pytest.raises(BadInput, match="every question is refused: .*400.*no such option"):
            run(world, tiny={"endpoint": server.address, "model": "other", "parallel": 1})
        assert len(server.requests) < 12


@pytest.mark.parametrize(
    ("said_so", "answer", "kind"),
    [
        ("  été 1917\n", "été 1917", "verbatim"),
        ("e\u0301te\u0301 1917", "e\u0301te\u0301 1917", "verbatim"),
        ("“été 1917”", "été 1917", "unwrapped"),
        ("Re\u0301ponse : l'été", "l'été", "unwrapped"),
        ("Réponse inconnue", "Réponse inconnue", "talked"),
        ("« hiver »", "« hiver »", "talked"),
        ("'", "'", "verbatim"),
        (" \n", "", "empty"),
    ],
)
def test_extracts(said_so, answer, kind):
    assert extract(said_so, "À l'été\u00a01917, la paix.") == (answer, kind)


def test_examples_are_seeded_and_never_evaluated():
    training = questions(30)
    two = draw_examples(training, 2, 5, set())
    assert draw_examples(training, 1, 5, set()) == two[:1]
    assert len({draw_examples(training, 1, seed, set())[0].context for seed in range(9)}) > 3
    apart = [
        replace(each, context=" ".join(f"mot{number}x{place}" for place in range(9)))
        for number, each in enumerate(training)
    ]
    left = {apart[0].context}
    evaluated = {each.context for each in apart} - left
    assert draw_examples(apart, 1, 5, evaluated)[0].context in left
    with pytest.raises(BadInput, match=r"too few training contexts.*got 1; expected 2"):
        draw_examples(apart, 2, 5, evaluated)
    alone = messages_of("Extrais.", [], "Où {x} ?", "Ici {y}.")
    assert alone == [{"role": "user", "content": "Extrais.\n\nDocument : Ici {y}.\nQuestion : Où {x} ?\nRéponse :"}]


def write_parameters(world, **model):
    path = world / "params.yaml"
    section = {"seed": 0, "instruction": INSTRUCTION, "models": {"tiny": MODEL | model}}
    path.write_text(yaml.safe_dump({"run": {"mlflow": False}, "complexity": {"prompt": section}}))
    argv = [f"--{name.replace('_', '-')}={value}" for name, value in arguments(world).items()]
    return ["--params", str(path), *argv]


def test_the_key_goes_to_the_endpoint_and_nowhere_else(world, monkeypatch, capfd):
    monkeypatch.setenv("TRIVIUM_TEST_KEY", "sk-secret-1")
    with Loopback(reader) as server:
        execute(
            main,
            "complexity.prompt",
            PromptParameters,
            [*write_parameters(world, endpoint=server.address, key_variable="TRIVIUM_TEST_KEY"), "--metrics=m.json"],
        )
        assert {headers["authorization"] for _, headers, _ in server.requests} == {"Bearer sk-secret-1"}
    assert "secret" not in "".join(capfd.readouterr())
    for path in world.rglob("*"):
        assert path.is_dir() or b"secret" not in path.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"endpoint": "ftp://host/v1"},
        {"endpoint": "http://me:secret@host/v1"},
        {"endpoint": "http://host/v1?key=secret"},
        {"key_variable": "sk-123"},
        {"temperature": 3},
    ],
)
def test_settings_are_checked(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        PromptedModel.model_validate(MODEL | changes)


def test_names_of_models_are_names_of_files():
    model = PromptedModel.model_validate(MODEL)
    with pytest.raises(ValueError, match="names of files"):
        PromptParameters(seed=0, instruction="x", models={"../x": model})
