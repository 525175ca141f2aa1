"""Folders of models whose `auto_map` names code of theirs: whoever sits at the prompt says `y`, and nothing runs."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.dynamic_module_utils
from transformers import AutoConfig, AutoModel, AutoTokenizer, BlipConfig, BlipForConditionalGeneration

from tests.complexity.frame_world import write_encoder
from tests.complexity.tiny_generators import causal_settings, seq2seq_settings, write_llama, write_t5
from tests.complexity.tiny_readers import settings, write_camembert
from tests.decorrelation.benchmark.benchmark_project import write_hugging_face
from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, write_base
from tests.kvqae.tiny_bert import write_tiny_bert
from tests.kvqae.tiny_encoders import write_clip
from trivium.complexity.frames.labels import FrameLabels
from trivium.complexity.frames.parser_folder import start_parser
from trivium.complexity.readers.kinds.causal import CausalReader
from trivium.complexity.readers.kinds.extractive import ExtractiveReader
from trivium.complexity.readers.kinds.seq2seq import Seq2SeqReader
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import FAMILIES
from trivium.decorrelation.captions.captioner import Captioner
from trivium.decorrelation.models.interface import start
from trivium.kvqae.reader.reading import load_reader
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.sources.complexity.models import check_model
from trivium.sources.decorrelation.models import add_marks
from trivium.vision.encoders.clip import Clip

CODE = """from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizer

Path({ran!r}).touch()

class Config(BertConfig):
    model_type = "theirs"

class Model(BertModel):
    config_class = Config

class Tokenizer(BertTokenizer):
    pass
"""
CLASSES = {
    "AutoConfig": "theirs.Config",
    "AutoTokenizer": ["theirs.Tokenizer", "theirs.Tokenizer"],
    "AutoImageProcessor": ["theirs.Model", "theirs.Model"],
    "AutoFeatureExtractor": "theirs.Model",
} | {
    f"AutoModel{task}": "theirs.Model"
    for task in ("", "ForQuestionAnswering", "ForSequenceClassification", "ForSeq2SeqLM", "ForCausalLM")
}
CPU = torch.device("cpu")


class Poisoned:
    """Gives folders code of their own, and says whether it ran or somebody was asked."""

    def __init__(self, ran: Path, stdin: io.StringIO) -> None:
        self._ran, self._stdin = ran, stdin

    def poison(self, folder: Path, model_type: str | None) -> Path:
        """Name code in every file that may; `model_type` None: as it is."""
        (folder / "theirs.py").write_text(CODE.format(ran=str(self._ran)))
        for name in ("config.json", "tokenizer_config.json", "preprocessor_config.json", "processor_config.json"):
            path = folder / name
            content = json.loads(path.read_text()) if path.exists() else {}
            content |= {"auto_map": CLASSES}
            if model_type and name == "config.json":
                content["model_type"] = model_type
            elif model_type:
                content |= {"tokenizer_class": "Theirs", "image_processor_type": "Theirs"}
            path.write_text(json.dumps(content))
        modules = [{"idx": 0, "name": "0", "path": "", "type": "theirs.Model"}]  # of sentence-transformers
        (folder / "modules.json").write_text(json.dumps(modules))
        return folder

    @property
    def ran(self) -> bool:
        return self._ran.exists()

    @property
    def asked(self) -> bool:
        return self._stdin.tell() > 0


@pytest.fixture
def poisoned(tmp_path, monkeypatch):
    stdin = io.StringIO("y\n" * 100)
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    return Poisoned(tmp_path / "ran", stdin)


def write_captioner(folder: Path) -> Path:
    base = write_base("blip", folder.with_name("retrieval"))
    BlipForConditionalGeneration(BlipConfig.from_pretrained(base)).save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_processor_type": "BlipImageProcessor"}))
    return folder


LOADERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any]]] = {
    "camembert": (write_camembert, lambda folder: ExtractiveReader.start(folder, settings())),
    "t5": (write_t5, lambda folder: Seq2SeqReader.start(folder, seq2seq_settings())),
    "llama": (write_llama, lambda folder: CausalReader.start(folder, causal_settings())),
    "frame parser": (
        write_encoder,
        lambda folder: start_parser(folder, FrameLabels({"F": {"E": "Core"}}, {}, {}, {}), 32),
    ),
    "brought reader": (write_camembert, lambda folder: check_model("camembert", folder)),
    "dpr": (write_tiny_bert, lambda folder: load_text_encoder(folder, CPU)),
    "reader": (write_tiny_bert, lambda folder: load_reader(folder, 16, new_heads=True)),
    "cross-encoder": (write_tiny_bert, lambda folder: load_cross_encoder(folder, 16, new_perceptron=True)),
    "blip": (lambda folder: write_base("blip", folder), lambda folder: start("blip", folder, SETTINGS["blip"], [])),
    "blip's marks": (write_tiny_bert, add_marks),
    "captioner": (write_captioner, lambda folder: Captioner(folder, beams=1, max_tokens=4)),
    "clip": (lambda folder: write_base("clip", folder), lambda folder: start("clip", folder, SETTINGS["clip"], [])),
    "clip on the leaderboard": (
        lambda folder: write_base("clip", folder),
        lambda folder: FAMILIES["open_clip"].load(str(folder)),
    ),
    "clip of transformers": (
        lambda folder: write_hugging_face("clip", folder, CAPTIONS),
        lambda folder: FAMILIES["hf"].load(str(folder)),
    ),
    "clip's image tower": (write_clip, lambda folder: Clip.load(folder, CPU)),
}


@pytest.mark.parametrize("model_type", [None, "theirs"], ids=["known", "unknown"])
@pytest.mark.parametrize("name", LOADERS)
def test_no_loader_runs_or_asks_to_run_code_of_a_folder(name, model_type, poisoned, tmp_path):
    write, load = LOADERS[name]
    folder = poisoned.poison(write(tmp_path / "model"), model_type)
    try:
        load(folder)
    except ValueError:  # BadInput, too
        assert model_type  # a known kind is read without their code
    assert not poisoned.ran
    assert not poisoned.asked


@pytest.mark.parametrize("model_type", [None, "theirs"], ids=["known", "unknown"])
def test_modules_of_sentence_transformers_that_are_code_are_refused(model_type, poisoned, tmp_path):
    folder = poisoned.poison(write_hugging_face("clip", tmp_path / "model", CAPTIONS), model_type)
    with pytest.raises(BadInput, match="not a usable model of sentence-transformers"):
        FAMILIES["sentence_transformers"].load(str(folder))
    assert not poisoned.ran
    assert not poisoned.asked


@pytest.mark.parametrize("automatic", [AutoConfig, AutoModel, AutoTokenizer])
def test_without_our_word_that_code_would_run(automatic, poisoned, tmp_path):
    automatic.from_pretrained(poisoned.poison(write_tiny_bert(tmp_path / "model"), "theirs"))
    assert poisoned.ran
    assert poisoned.asked


def changed_text(folder: Path, **changes: Any) -> Path:
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"]["text_cfg"] |= changes
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("name", ["clip", "clip's image tower", "clip on the leaderboard"])
def test_a_text_tower_of_transformers_is_refused_before_its_code_is_looked_at(name, poisoned, tmp_path):
    write, load = LOADERS[name]
    theirs = poisoned.poison(write_tiny_bert(tmp_path / "text"), "theirs")
    folder = changed_text(write(tmp_path / "model"), hf_model_name=str(theirs))
    with pytest.raises(BadInput, match=r"text_cfg.hf_model_name.: a model of the hub"):
        load(folder)
    assert not poisoned.ran
    assert not poisoned.asked


def test_the_folder_of_a_clip_cannot_say_that_it_is_trusted(poisoned, tmp_path):
    folder = poisoned.poison(write_base("clip", tmp_path / "model"), "theirs")
    changed_text(folder, hf_tokenizer_name="words", tokenizer_kwargs={"trust_remote_code": True})
    with pytest.raises(BadInput, match="code beside a tokenizer is not trusted"):
        start("clip", folder, SETTINGS["clip"], [])
    assert not poisoned.ran
