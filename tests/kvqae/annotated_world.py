"""A small world for the stages of annotation: generated questions, pictures, released data, exports by hand."""

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines
from trivium.kvqae.annotation.project import DECISION, IMAGE, KEEP, PROJECT, QUESTION
from trivium.kvqae.construction.generation import GeneratedQuestion, read_generated

TYPES = {QUESTION: ("textarea", "text"), DECISION: ("choices", "choices"), IMAGE: ("choices", "choices")}


def record(number: int, **changes: Any) -> dict[str, Any]:
    """A generated question about entity number // 2, even entities are persons; each entity has its own images."""
    entity = number // 2
    human = entity % 2 == 0
    name, mention = f"Name{entity} Surname{entity}", "this man" if human else "this tall ship"
    images = [f"Photo {entity} {place}.jpg" for place in range(3)]
    made = {
        "id": f"tc_{number}_10",
        "input": f"{mention.capitalize()} is from the {1700 + number}s. Where was {mention} seen?",
        "original_question": f"{name} is from the {1700 + number}s. Where was {name} seen?",
        "mention": name,
        "names": [name, f"{name} (sailor)", f"Old {entity}"],
        "mention_type": "gender" if human else "type",
        "ambiguous_mention": mention,
        "other_mentions": ["he", "this writer"] if human else ["this ship", "this vessel"],
        "answer": {"original_answer": f"Place {number % 5}", "answer": [f"Place {number % 5}", f"P{number % 5}"]},
        "wikidata_id": f"Q{entity}",
        "kilt_id": f"{entity}00",
        "title": f"{name} (sailor)",
        "human": human,
        "reference": f"Reference {entity}.jpg",
        "images": images,
        "image": images[0],
    }
    return made | changes


def write_generated(path: Path, records: list[dict[str, Any]]) -> dict[str, GeneratedQuestion]:
    """Write generated.jsonl and read it back."""
    write_json_lines(path, iter(records))
    return read_generated(path)


def picture(shade: int, size: tuple[int, int] = (40, 20)) -> bytes:
    """A JPEG of one colour."""
    out = io.BytesIO()
    Image.new("RGB", size, (shade % 256, 128, 255 - shade % 256)).save(out, "JPEG")
    return out.getvalue()


def write_pictures(root: Path, records: list[dict[str, Any]]) -> tuple[Path, Path]:
    """Shards of all candidates, and of all references; each candidate has bytes of its own."""
    candidates = sorted({name for each in records for name in each["images"]})
    references = sorted({each["reference"] for each in records})
    sizes = ((name, picture(place, (40, 20 + place // 256))) for place, name in enumerate(candidates))
    write_images(root / "images", sizes)
    write_images(root / "references", ((name, picture(7)) for name in references))
    return root / "images", root / "references"


def annotation(number: int, annotator: Any = 1, decision: str = KEEP, **controls: str) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    result = []
    for name, value in {DECISION: decision, **controls}.items():
        kind, key = TYPES[name]
        result.append({"from_name": name, "to_name": "original", "type": kind, "value": {key: [value]}})
    return {"id": number, "completed_by": annotator, "was_cancelled": False, "result": result}


def exported(made: dict[str, Any], *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    """A task of an export."""
    given = {"project": PROJECT, "id": made["id"], "question": made["input"], "annotators": "A01"}
    given |= {"answer": made["answer"]["original_answer"], "images": [{"value": name} for name in made["images"]]}
    return {"id": 5, "data": given | data, "annotations": list(annotations), "predictions": []}


def write_export(path: Path, tasks: Any) -> Path:
    """Write an export."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tasks), "utf-8")
    return path


def write_released(root: Path, behind: list[str]) -> Path:
    """Released data: four ViQuAE questions a split, and TriviaQA with `behind` among its training questions."""
    wikidata = [
        {"id": f"Q{n}", "claims": {"P31": [{"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": kind}}}}]}}
        for n, kind in enumerate(("Q5", "Q1", "Q5", "Q1"))
    ]
    write_json_lines(root / "wikidata.jsonl", iter(wikidata))
    for place, split in enumerate(("train", "validation", "test")):
        viquae, trivia = [], []
        for number in range(4):
            answer = {"original_answer": f"A{number + place}", "answer": [f"A{number + place}"]}
            made = {"id": f"r{split}{number}", "input": "Who is this man?", "image": f"{number % 2}.jpg"}
            viquae.append(made | {"wikidata_id": f"Q{number}", "kilt_id": "1", "output": answer})
            trivia.append({"id": f"t{split}{number}", "input": f"{split} {number}?", "output": answer})
        trivia += [{"id": f"b{number}", "input": text, "output": answer} for number, text in enumerate(behind)]
        write_json_lines(root / "viquae" / f"{split}.jsonl", iter(viquae))
        write_json_lines(root / "triviaqa" / f"{split}.jsonl", iter(trivia))
    return root
