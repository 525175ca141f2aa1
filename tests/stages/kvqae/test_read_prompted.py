"""Stage kvqae-read_prompted: its files, its metrics, and answers that stay in the journal."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from PIL import Image

from stages.kvqae.read_prompted import ReadPromptedParameters, main
from tests.kvqae.reader.test_prompted import READER
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_table, write_table
from trivium.formats.trec import write_run
from trivium.kvqae.reader.prompted import JOURNAL
from trivium.measures.runs import Run


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    output = {"original_answer": "Dor", "answer": ["Dor"]}
    records = [{"id": f"q{n}", "input": "Where?", "image": "a.png", "output": output} for n in range(2)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    picture = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(picture, "PNG")
    write_images(tmp_path / "images", [("a.png", picture.getvalue())])
    write_table(tmp_path / "wiki/articles.parquet", pa.table({"article": [0], "title": ["Ada"]}))
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": [0, 0], "text": ["In Dor.", "In Ur."]}))
    write_run(tmp_path / "fused/test.trec", Run.from_dict({"q0": {1: 2.0, 0: 1.0}}))
    return tmp_path


def run(world: Path, out: str = "out", **entry: object) -> dict[str, float]:
    tree = {"read_prompted": {"instruction": "Say it."}, "pictures": {"max_pixels": 10_000},
            "prompted_readers": {"tiny": {**READER, "run": "fused", **entry}}}  # fmt: skip
    (world / "params.yaml").write_text(yaml.safe_dump({"kvqae": tree}))
    return execute(
        main,
        "kvqae.read_prompted",
        ReadPromptedParameters,
        ["--reader", "tiny", "--questions", "test.jsonl", "--images", "images", "--run", "fused", "--kb", "wiki",
         "--out-cache", "cache", "--out", out,
         "--metrics", "metrics.json"],
    )  # fmt: skip


def test_answers_are_measured_written_and_kept(world: Path) -> None:
    def behave(number: int, payload: dict[str, object]) -> object:
        return said("Dor" if "In Ur." in str(payload) else "It was Dor.")

    with Loopback(behave) as server:  # type: ignore[arg-type]
        metrics = run(world, endpoint=server.address, model="bluelm-v")
        answers = read_table(world / "out/answers.parquet")
        assert answers.to_pydict() == {
            "question": ["q0", "q1"],
            "prediction": ["Dor", "It was Dor."],
            "em": [1, 0],
            "f1": [1, 0.5],
            "contains": [1, 1],
        }
        assert (metrics["em"], metrics["f1"], metrics["contains"], metrics["questions"]) == (0.5, 0.75, 1, 2)
        assert (metrics["requests"], metrics["prompt_tokens"]) == (2, 20)
        assert metrics["known_to_have_trained_on_it"] == 1
        assert "BlueLM" in read_json(world / "out/reader.json")["known_training"]
        again = run(world, "again", endpoint=server.address, model="bluelm-v")
        assert (again["cached"], again.get("requests", 0)) == (2, 0)
        assert len(server.requests) == 2
    assert (world / JOURNAL / "answers.jsonl").read_bytes() == (world / "cache/answers.jsonl").read_bytes()
    run(world, "down", endpoint=server.address, model="bluelm-v")  # all is known: nobody is asked


def test_an_endpoint_that_is_down_loses_nothing(world: Path) -> None:
    with Loopback(lambda number, payload: said("Dor")) as server:
        address = server.address
    with pytest.raises(BadInput, match="the endpoint fails: gave up after 1 requests"):
        run(world, endpoint=address)
    assert not (world / "out").exists()
    with pytest.raises(
        BadInput, match=r"kvqae\.prompted_readers\.tiny\.endpoint: Input should be a valid string \(got None\)"
    ):
        run(world, endpoint=None)
