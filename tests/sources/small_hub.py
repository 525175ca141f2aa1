"""A tiny copy of every source of the hub world, in the formats of the real ones, by hand from their descriptions.

- KILT's articles: https://github.com/facebookresearch/KILT and the features of huggingface.co/datasets/facebook/kilt_wikipedia,
  which has structures of lists where the JSON file has lists of structures.
- ViQuAE's articles and questions: README.rst of https://github.com/PaulLerner/ViQuAE; `kilt_id` of a question is that
  of the TriviaQA question it was made from (meerqat/data/kilt2vqa.py).
- TriviaQA: meerqat/data/loading.py, map_kilt_triviaqa, and the files of huggingface.co/datasets/PaulLerner/triviaqa_for_viquae.
"""

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


LINK = {
    "paragraph_id": 1,
    "start": 4,
    "end": 7,
    "text": "was",
    "href": "Was",
    "wikipedia_title": "Was",
    "wikipedia_id": "7",
}


def articles():
    """Lines of kilt_knowledgesource.json."""
    titles = {qid: title for qid, (title, *_) in ENTITIES.items()} | {"Q4": "Nothing to see"}
    return [
        {
            "_id": str(row),
            "wikipedia_id": str(row),
            "wikipedia_title": title,
            "text": [f"{title}\n", f"{title} was born in {1900 + row}.\n", "Section::::Life.\n"],
            "anchors": [LINK],
            "categories": "a,b",
            "history": {
                "pageid": row, "parentid": 1, "revid": 2, "pre_dump": True, "timestamp": "2019-07-01T00:00:00Z",
                "url": f"https://en.wikipedia.org/w/index.php?title={row}&oldid=2",
            },
            "wikidata_info": {
                "wikidata_id": qid, "aliases": [f"{title} II"], "description": "d", "wikidata_label": title,
                "wikipedia_title": title, "enwikiquote_title": title,
            },
        }
        for row, (qid, title) in enumerate(titles.items(), 10)
    ]  # fmt: skip


def of_lists(structures):
    """A list of structures as `datasets` keeps it."""
    return {name: [structure[name] for structure in structures] for name in structures[0]}


def output(answers, title, page):
    """Of a question: valid answers, the first of them TriviaQA's own, and where KILT found them."""
    place = {
        "bleu_score": 1.0, "start_character": 0, "start_paragraph_id": 1, "end_character": 9, "end_paragraph_id": 1,
        "meta": None, "section": "Section::::Abstract.", "title": title, "wikipedia_id": page,
    }  # fmt: skip
    nowhere: dict[str, list] = {name: [] for name in place}
    provenance = [of_lists([place]), *[nowhere] * (len(answers) - 1)]
    return {"answer": answers, "original_answer": answers[0], "provenance": provenance}


def viquae(split, qid):
    title, _, _ = ENTITIES[qid]
    return {
        "id": f"{split}-1",
        "input": "When was this man born?",
        "image": f"512px-question-{qid}.jpg",
        "kilt_id": "tc_10",
        "wikidata_id": qid,
        "url": f"http://upload.wikimedia.org/wikipedia/commons/thumb/a/ae/question-{qid}.jpg/512px-question-{qid}.jpg",
        "original_question": f"When was {title} born?",
        "meta": {"left_context": "", "mention": "", "right_context": ""},
        "output": output(["1910", "the year 1910"], "Ada", "10"),
    }


def triviaqa(name):
    return [
        {
            "id": f"{name}-{i}",
            "input": f"Question {i}?",
            "meta": {"left_context": "", "mention": "", "right_context": "", "partial_evidence": [], "obj_surface": []},
            "output": output(["Paris", "City of Light"], "Bridge", "12"),
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
                "anchors": of_lists(record["anchors"]),
                "url": record["history"]["url"],
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
    trivia = {"without_viquae": "train", "with_viquae_validation": "validation", "with_viquae_test": "test"}
    trivia["with_viquae_train"] = "unused"
    files = {f"data/{part}-00000-of-00001.parquet": parquet(triviaqa(split)) for part, split in trivia.items()}
    serve("triviaqa", files | {"README.md": b"x", "dataset_infos.json": b"{}"})
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
