"""The importer of vsepp's files: a checkpoint written as its public code writes one, against that code's forward pass.

Names and forward pass: github.com/fartashf/vsepp, model.py, train.py (`save_checkpoint`) and vocab.py.
"""

import argparse
import io
import os
import pickle
import sys
import tarfile
import types

import pytest
import torch
from torch import nn
from torch.nn.functional import normalize

from tests.decorrelation.tiny_models import SETTINGS, pictures
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.models.interface import load, start
from trivium.sources.decorrelation.models import convert_vsepp, extract, read_words

WORDS = ["<pad>", "<start>", "<end>", "<unk>", "dog", ".", "a", "n't"]
OPTIONS = {"cnn_type": "vgg19", "measure": "cosine", "num_layers": 1, "use_abs": False, "no_imgnorm": False}
CHANNELS = [4, "M", 6, "M"]  # a narrow VGG: that of VGG19 has 550 MB


@pytest.fixture
def vocabulary(tmp_path, monkeypatch):
    module = types.ModuleType("vocab")
    kind = module.Vocabulary = type("Vocabulary", (), {"__module__": "vocab"})
    monkeypatch.setitem(sys.modules, "vocab", module)
    words = kind()
    words.word2idx = {word: number for number, word in enumerate(WORDS)}
    words.idx2word, words.idx = dict(enumerate(WORDS)), len(WORDS)
    (tmp_path / "coco_vocab.pkl").write_bytes(pickle.dumps(words, 2))
    monkeypatch.delitem(sys.modules, "vocab")
    return tmp_path / "coco_vocab.pkl"


@pytest.fixture
def towers():
    torch.manual_seed(0)
    features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))  # fmt: skip
    classifier = nn.Sequential(nn.Linear(24, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 8), nn.ReLU(), nn.Dropout())
    parts = {"cnn.features.module": features, "cnn.classifier": classifier, "fc": nn.Linear(8, 5)}
    return parts, {"embed": nn.Embedding(len(WORDS), 3), "rnn": nn.GRU(3, 5, batch_first=True)}


def save(path, towers, options=OPTIONS):
    states = [{f"{part}.{name}": value for part, layer in tower.items() for name, value in layer.state_dict().items()}
              for tower in towers]  # fmt: skip
    held = {"epoch": 1, "model": states, "best_rsum": 1.5, "opt": argparse.Namespace(**options), "Eiters": 7}
    torch.save(held, path, _use_new_zipfile_serialization=False)  # PyTorch 0.3 had no other
    return path


def converted(tmp_path, towers, vocabulary):
    folder = tmp_path / "vsepp_coco"
    folder.mkdir()
    convert_vsepp(save(tmp_path / "model_best.pth.tar", towers), vocabulary, folder)
    cnn = {"architecture": "vgg", "channels": CHANNELS, "grid": 2, "hidden": 8, "size": 16, "resize": 16}
    write_json(folder / "config.json", read_json(folder / "config.json") | cnn)
    return folder


def test_a_released_model_embeds_as_its_own_code_does(tmp_path, towers, vocabulary):
    model = load(converted(tmp_path, towers, vocabulary))
    image, text = towers
    pixels = torch.stack([model.prepare(each, training=False) for each in pictures(3)])
    features = image["cnn.features.module"](pixels)
    features = image["cnn.classifier"].eval()(nn.functional.adaptive_avg_pool2d(features, 2).flatten(1))
    expected = normalize(image["fc"](normalize(features, dim=1)), dim=1)
    assert torch.allclose(model.encode_images(pixels), expected, atol=1e-6)
    for caption, words in (("A dog.", "<start> a dog . <end>"), ("A cat doesn't", "<start> a <unk> <unk> n't <end>")):
        ids = torch.tensor([[WORDS.index(word) for word in words.split()]])
        last = text["rnn"](text["embed"](ids))[0][:, -1]
        assert torch.allclose(model.encode_texts(model.tokenize([caption])), normalize(last, dim=1), atol=1e-6)


def test_training_starts_there_with_its_own_vocabulary(tmp_path, towers, vocabulary):
    folder = converted(tmp_path, towers, vocabulary)
    model = start("vse", folder, SETTINGS["vse"], ["other words"])
    model.save(tmp_path / "saved")
    for name in ("config.json", "vocabulary.json", "model.safetensors"):
        assert (tmp_path / "saved" / name).read_bytes() == (folder / name).read_bytes() or name == "config.json"
    assert read_json(tmp_path / "saved" / "config.json") == read_json(folder / "config.json")


def test_the_vocabulary_of_another_checkpoint_is_refused(tmp_path, towers, vocabulary):
    towers[1]["embed"] = nn.Embedding(9, 3)
    with pytest.raises(BadInput, match="vocabulary of another checkpoint; got '8 words'; expected 9"):
        convert_vsepp(save(tmp_path / "model_best.pth.tar", towers), vocabulary, tmp_path)


def test_nothing_that_a_pickle_asks_for_is_run(tmp_path, vocabulary):
    assert read_words(vocabulary) == WORDS

    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)

    (tmp_path / "bad.pkl").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(BadInput, match="not a vocabulary of vsepp; got 'posix.mkdir'"):
        read_words(tmp_path / "bad.pkl")
    torch.save({"model": [], "opt": Harm()}, tmp_path / "model_best.pth.tar")
    with pytest.raises(BadInput, match="not plain tensors"):
        convert_vsepp(tmp_path / "model_best.pth.tar", vocabulary, tmp_path)
    assert not (tmp_path / "harm").exists()


def test_a_file_is_taken_out_of_an_archive_and_a_missing_one_named(tmp_path):
    with tarfile.open(tmp_path / "vocab.tar", "w") as archive:
        entry = tarfile.TarInfo("./vocab/coco_vocab.pkl")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    extract(tmp_path / "vocab.tar", "vocab/coco_vocab.pkl", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"abc"
    with pytest.raises(BadInput, match=r"no such file in the archive; got 'x' \(choices: vocab/coco_vocab.pkl\)"):
        extract(tmp_path / "vocab.tar", "x", tmp_path / "out")
