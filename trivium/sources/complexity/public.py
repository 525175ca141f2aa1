"""French sets that anybody may download: PIAF's questions, and the French FrameNet's sentences of the Sequoia treebank.

PIAF (Keraron et al., LREC 2020; MIT) stands in for FQuAD and, by articles that nobody trains on, for questions to
evaluate on. The French FrameNet (Djemaa et al., LREC 2016; LGPL-LR) stands in for Calor's annotated texts.
"""

import tempfile
from pathlib import Path, PurePosixPath
from zlib import crc32

from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_FILE
from trivium.core.tables import write_json
from trivium.core.zips import open_zip, read_member
from trivium.formats.frame_corpora import write_texts
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.formats.squad import VERSION
from trivium.sources.archives import read_records
from trivium.sources.brought import PROVENANCE
from trivium.sources.pins import Pins
from trivium.sources.repositories import Hub

PIAF, FRAMENET = "piaf", "french_framenet"
SEQUOIA = 3099  # the last of its sentences; those behind it are the French Treebank's, which has a licence of its own
_BLOCK = 50  # neighbouring sentences that stay in one split: they are of one document
_TENTHS = {"evaluation": range(2), "validation": range(2, 3), "train": range(3, 10)}


def take_piaf(out: Path, downloads: Path) -> dict[str, Path]:
    """Write PIAF's questions in SQuAD's format, seven tenths of the articles to train on, one to validate, two to ask.

    An article's split follows from its title. What stands at a wrong place is left to whoever reads the files.

    Returns:
        The file of each split.

    Raises:
        BadInput: see `Hub.fetch` and `read_records`; or a record is not the hub's.
    """
    pins = Pins()
    data: dict[str, list[dict[str, object]]] = {split: [] for split in _TENTHS}
    hub = Hub(downloads, pins)
    for path in hub.fetch(PIAF).values():
        for row, record in read_records(path):
            try:
                title, answers = record["title"], record["answers"]
                stands = zip(answers["text"], answers["answer_start"], strict=True)
                qa = {
                    "id": record["id"],
                    "question": record["question"],
                    "answers": [{"text": text, "answer_start": start} for text, start in stands],
                }
                paragraph = {"context": record["context"], "qas": [qa]}
            except (KeyError, TypeError, ValueError) as error:
                expected = "id, title, context, question, answers {text, answer_start}"
                raise BadInput(f"not PIAF's: {error!r}", file=path, row=row, expected=expected) from None
            tenth = crc32(str(title).encode()) % 10
            split = next(name for name, tenths in _TENTHS.items() if tenth in tenths)
            data[split].append({"title": title, "paragraphs": [paragraph]})
    out.mkdir(parents=True, exist_ok=True)
    for split, articles in data.items():
        write_json(out / f"{split}.json", {"version": VERSION, "data": articles})
    write_json(out / PROVENANCE, pins.summary([PIAF]))
    hub.drop(PIAF)
    return {split: out / f"{split}.json" for split in data}


def take_french_framenet(out: Path, downloads: Path) -> tuple[dict[str, Path], dict[str, float]]:
    """Write the Sequoia's annotated sentences as `frames/<split>.jsonl`; blocks of neighbours stay in one split.

    Returns:
        The file of each split, and what the conversion counted (`read_framenet`).

    Raises:
        BadInput: see `Hub.fetch`, `open_zip`, `read_core_types` and `read_framenet`.
    """
    pins = Pins()
    hub = Hub(downloads, pins)
    with tempfile.TemporaryDirectory() as work:
        (path,) = hub.fetch(FRAMENET).values()
        with open_zip(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                if name.suffix == ".xml" and name.parent.name in ("lu", "frame"):
                    folder = Path(work) / name.parent.name
                    folder.mkdir(exist_ok=True)
                    (folder / name.name).write_bytes(read_member(archive, member, path, LARGEST_FILE))
        texts, left = read_framenet(Path(work) / "lu", read_core_types(Path(work) / "frame"))
        free = [text for text in texts if text.id.isdigit() and int(text.id) <= SEQUOIA]
        files = {}
        for split, tenths in (("train", range(6)), ("validation", range(6, 7)), ("test", range(7, 10))):
            files[split] = out / "frames" / f"{split}.jsonl"
            write_texts(files[split], [text for text in free if int(text.id) // _BLOCK % 10 in tenths])
        write_json(out / PROVENANCE, pins.summary([FRAMENET]))
        hub.drop(FRAMENET)
    counts = {name: float(number) for name, number in left.items()}
    return files, counts | {"sentences_of_the_french_treebank": float(len(texts) - len(free))}
