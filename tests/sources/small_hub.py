"""A tiny copy of every source of the hub world, in the formats of the real ones."""

import gzip
import io
import json
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from PIL import Image

REVISION = "abcdef0" + "1" * 33
ENTITIES = {  # Wikidata id: (title, part, image)
    "Q1": ("Ada", "humans_with_faces", "512px-Ada.jpg"),
    "Q2": ("Bob", "humans_without_faces", "512px-Bob.jpg"),
    "Q3": ("Bridge", "non_humans", "512px-Bridge.png"),
}


def jpeg(colour):
    buffer = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(buffer, "JPEG")
    return buffer.getvalue()


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def tar_of(images):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in images.items():
            member = tarfile.TarInfo(f"images/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def articles():
    titles = {qid: title for qid, (title, *_) in ENTITIES.items()} | {"Q4": "Nothing to see"}
    return [
        {
            "_id": str(row),
            "wikipedia_id": str(row),
            "wikipedia_title": title,
            "text": [f"{title}\n", f"{title} was born in {1900 + row}.\n", "Section::::Life.\n"],
            "anchors": [{"text": "many"}],
            "categories": "a,b",
            "history": {"revid": 1},
            "wikidata_info": {"wikidata_id": qid, "aliases": [f"{title} II"], "description": "d"},
        }
        for row, (qid, title) in enumerate(titles.items(), 10)
    ]


def viquae(split, qid):
    title, _, _ = ENTITIES[qid]
    return {
        "id": f"{split}-1",
        "input": "When was this man born?",
        "image": f"512px-question-{qid}.jpg",
        "kilt_id": "tc_10",
        "wikidata_id": qid,
        "url": "http://example.org",
        "original_question": f"When was {title} born?",
        "meta": {},
        "output": {
            "original_answer": "1910",
            "answer": ["1910", "the year 1910"],
            "provenance": [{"title": ["Ada"], "wikipedia_id": ["10"]}],
        },
    }


def triviaqa(name):
    """KILT's own form: one output a valid answer."""
    return [
        {
            "id": f"{name}-{i}",
            "input": f"Question {i}?",
            "output": [
                {"answer": "Paris", "provenance": [{"wikipedia_id": "12", "title": "Bridge"}]},
                {"answer": "City of Light", "provenance": []},
            ],
        }
        for i in range(3)
    ]


def parquet(records):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), buffer)
    return buffer.getvalue()


def serve_kvqae(hub):
    """Put every source of KVQAE on a loopback hub; returns the pins file's text."""
    kb = {part: [] for _, part, _ in ENTITIES.values()}
    for record in articles()[:3]:
        qid = record["wikidata_info"]["wikidata_id"]
        title, part, image = ENTITIES[qid]
        info = record["wikidata_info"] | {"aliases": {"alias": [f"{title} II"]}, "wikidata_label": title}
        kb[part].append(
            record
            | {
                "image": image,
                "kilt_id": record["_id"],
                "wikidata_info": info,
                "text": {"paragraph": record["text"]},
                "anchors": {"text": ["many"]},
            }
        )
    archive = tar_of(
        {
            "512px-Ada.jpg": jpeg("red"),
            "512px-stranger.jpg": jpeg("blue"),
            "README.txt": b"hello",
            "512px-Bridge.png": jpeg("green"),
        }
    )  # Bob's image is missing
    third = len(archive) // 3 + 1
    commits = (REVISION, "b" * 40)

    def serve(name, files, commits=("a" * 40,)):
        hub.repository(f"who/{name}", files, kind="dataset", commits=commits)

    serve("kb", {f"{part}.jsonl.gz": gzip.compress(lines(rows)) for part, rows in kb.items()}, commits)
    splits = {"train": "Q1", "validation": "Q2", "test": "Q3"}
    serve("questions", {f"{split}.jsonl": lines([viquae(split, qid)]) for split, qid in splits.items()}, commits)
    serve("images", {"images.tar.gz": tar_of({f"512px-question-{qid}.jpg": jpeg("white") for qid in ENTITIES})})
    parts = {
        f"parts/images.tar.gz.parta{letter}": archive[i * third : (i + 1) * third] for i, letter in enumerate("abc")
    }
    serve("all_images", parts | {"README.md": b"x"})
    serve(
        "triviaqa",
        {
            "data/without_viquae-00000-of-00001.parquet": parquet(triviaqa("train")),
            "with_viquae_validation.jsonl.gz": gzip.compress(lines(triviaqa("validation"))),
            "with_viquae_test.jsonl": lines(triviaqa("test")),
            "with_viquae_train.jsonl": lines(triviaqa("unused")),
            "README.md": b"x",
        },
    )
    hub.files["/KILT/kilt_knowledgesource.json"] = lines(articles())

    def source(repository, **more):
        return {"hub": f"who/{repository}", "kind": "dataset", **more}

    files = {f"{split}.jsonl": {} for split in ("train", "validation", "test")}
    return pins(
        {
            "viquae_dataset": source("questions", revision=REVISION[:7], files=files),
            "viquae_wikipedia": source("kb", revision=REVISION, files={f"{part}.jsonl.gz": {} for part in kb}),
            "viquae_images": source("images", revision=None, files={"images.tar.gz": {}}),
            "viquae_all_images": source("all_images", revision="a" * 40, list="parts/images.tar.gz.part*"),
            "triviaqa": source("triviaqa", revision=None, list="*with*_viquae*"),
            "kilt": {"url": f"{hub.url}/KILT", "files": {"kilt_knowledgesource.json": {}}},
        }
    )


def serve_models(hub, bert, clip, onnx, resnet):
    """Put base models on a loopback hub, given as files; returns the pins file's text."""
    import torch  # seconds, which the other tests need not wait

    hub.repository("who/bert", bert)
    hub.repository("who/clip", clip)
    pack = io.BytesIO()
    with zipfile.ZipFile(pack, "w") as archive:
        archive.writestr("det_10g.onnx", b"other")
        archive.writestr("w600k_r50.onnx", onnx)
    weights = io.BytesIO()
    torch.save(resnet, weights)
    hub.files |= {"/v0.7/buffalo_l.zip": pack.getvalue(), "/models/resnet50.pth": weights.getvalue()}
    return pins(
        {
            "bert": {"hub": "who/bert", "kind": "model", "revision": "a" * 40, "files": {file: {} for file in bert}},
            "clip": {"hub": "who/clip", "kind": "model", "revision": "a" * 40, "files": {file: {} for file in clip}},
            "arcface": {"url": f"{hub.url}/v0.7", "files": {"buffalo_l.zip": {}}},
            "imagenet": {"url": f"{hub.url}/models", "files": {"resnet50.pth": {}}},
        }
    )


def pins(sources):
    return yaml.safe_dump(
        {name: {"description": name, "licence": "x", "bytes": 1000, **source} for name, source in sources.items()}
    )
