"""What data and models are never allowed to do: every call that could run code of theirs is found in the source."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOMS = ("trivium", "stages", "sample", "bench")

RUNS_CODE = {"cloudpickle", "dill", "joblib", "marshal", "shelve"}
"""Modules whose every use is refused."""

SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
XML = ("xml.etree.", "xml.sax.", "xml.dom.", "xml.parsers.", "lxml.")
PARSES = {"parse", "parseString", "fromstring", "fromstringlist", "iterparse", "make_parser",
          "XML", "XMLID", "XMLParser", "XMLPullParser", "ParserCreate", "create_parser"}  # fmt: skip
LOADS_MODELS = {"from_pretrained", "CrossEncoder", "SentenceTransformer", "SparseEncoder"}
LOADS_MODELS_BY_NAME = {"transformers.pipeline", "datasets.load_dataset", "open_clip.get_tokenizer"}
SAFE_LOADERS = {"yaml.SafeLoader", "yaml.CSafeLoader", "getattr(yaml, 'CSafeLoader', yaml.SafeLoader)"}

ALLOWED = {
    ("bench/harness.py", "pickle.dumps"): "writes what the next line's process reads",
    ("bench/harness.py", "pickle.load"): "reads from the pipe of its own parent, which runs the same code",
    ("trivium/complexity/readers/kinds/causal.py", "peft.PeftModel.from_pretrained"): (
        "has no such option: the model is given, and adapters bring no code; they are safetensors, which is checked"
    ),
    ("trivium/nets/open_clip_folder.py", "open_clip.get_tokenizer"): (
        "the option is given where transformers reads the tokenizer; open_clip's own does not know it"
    ),
    **{
        ("trivium/core/ray_engine.py", f"pickle.{name}"): "between the driver of a cluster and its own workers"
        for name in ("Unpickler", "dumps", "loads")
    },
    **{
        (f"sample/{file}.py", "PIL.Image.open"): "a picture that the sample has just drawn itself"
        for file in ("kvqae/construction", "render/photo")
    },
    (
        "trivium/sources/decorrelation/models.py",
        "pickle.Unpickler",
    ): "knows one class, which does nothing, and no function",
    ("trivium/core/tables.py", "csv.writer"): "its cells are made inert; every other module writes through it",
}
"""(file, what is called) → why it is safe."""


def names_of(tree: ast.Module) -> dict[str, str]:
    """What a name of the module stands for, in full."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                names[each.asname or first] = each.name if each.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`np.load` → `numpy.load`; what no import has named keeps its name, after a question mark."""
    members = []
    while isinstance(node, ast.Attribute):
        members.append(node.attr)
        node = node.value
    first = names.get(node.id, f"?{node.id}") if isinstance(node, ast.Name) else "?"
    return ".".join([first, *reversed(members)])


def assigned(name: str, tree: ast.Module) -> str:
    """The expression that a name of the module was given last, else the name."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    found = [node.value for node in nodes if name in {ast.unparse(target) for target in node.targets}]
    return ast.unparse(found[-1]) if found else name


def dangers(text: str) -> Iterator[tuple[str, str]]:
    """(what is used, what is wrong with it) for everything in a module's source that could run code of its input."""
    tree = ast.parse(text)
    names = names_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            name = dotted(node, names)
            package, _, member = name.partition(".")
            if member and (package in RUNS_CODE or (package == "pickle" and member != "UnpicklingError")):
                yield name, "unpickles"
        elif isinstance(node, ast.Call):
            name = dotted(node.func, names)
            given = {each.arg: ast.unparse(each.value) for each in node.keywords}
            if wrong := danger(name, given, node, tree):
                yield name.removeprefix("?"), wrong


def danger(name: str, given: dict[str | None, str], call: ast.Call, tree: ast.Module) -> str | None:
    """What is wrong with a call of `name`, with the source of its named arguments; None: nothing."""
    member = name.rpartition(".")[2]
    if name in {"?eval", "?exec", "?compile", "?__import__"}:
        return "runs a text"
    if name in SHELLS or given.get("shell", "False") != "False":
        return "asks a shell"
    if name == "torch.load" and given.get("weights_only") != "True":
        return "unpickles"
    if name in {"torch.jit.load", "torch.hub.load"}:
        return "runs code of a model"
    if name == "numpy.load" and given.get("allow_pickle", "False") != "False":
        return "unpickles"
    if name in {"yaml.load", "yaml.load_all"}:
        loader = given.get("Loader") or (ast.unparse(call.args[1]) if len(call.args) > 1 else "")
        return None if assigned(loader, tree) in SAFE_LOADERS else "makes objects"
    if name.startswith(("yaml.unsafe_", "yaml.full_")) or (member == "YAML" and "unsafe" in given.get("typ", "")):
        return "makes objects"
    if name.startswith(XML) and member in PARSES:
        return "expands entities"
    if (member in LOADS_MODELS or name in LOADS_MODELS_BY_NAME) and given.get("trust_remote_code") != "False":
        return "may run code of a model"
    if name.startswith("open_clip.create_model") and given.get("weights_only") != "True":
        return "may unpickle"
    if name == "PIL.Image.open" and given.get("formats", "None") == "None":
        return "may ask Ghostscript"
    if name in {"csv.writer", "csv.DictWriter", "pyarrow.csv.write_csv"} or member == "to_csv":
        return "may write a formula"
    return None


@cache
def found() -> dict[tuple[str, str], str]:
    files = (file for room in ROOMS for file in sorted(Path(room).rglob("*.py")))
    return {
        (file.as_posix(), what): wrong for file in files for what, wrong in dangers(file.read_text(encoding="utf-8"))
    }


def test_nothing_that_could_run_code_of_data_or_models_is_used():
    assert {place: wrong for place, wrong in found().items() if place not in ALLOWED} == {}


def test_every_exception_is_needed():
    assert ALLOWED.keys() <= found().keys()


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.load(path)",
        "from torch import load\nload(path, weights_only=False)",
        "import torch\ntorch.jit.load(path)",
        "import pickle as p\np.loads(data)",
        "from pickle import Unpickler\nUnpickler(file)",
        "def f():\n    import joblib\n    return joblib.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path, allow_pickle=trusted)",
        "import yaml\nyaml.load(text)",
        "import yaml\nyaml.load(text, Loader=yaml.FullLoader)",
        "import yaml\nloader = yaml.UnsafeLoader\nyaml.load(text, loader)",
        "import yaml\nyaml.unsafe_load(text)",
        "from ruamel.yaml import YAML\nYAML(typ='unsafe')",
        "from transformers import AutoModel\nAutoModel.from_pretrained(folder)",
        "from transformers import AutoModel\nAutoModel.from_pretrained(folder, **options)",
        "from transformers import AutoModel\nAutoModel.from_pretrained(folder, trust_remote_code=True)",
        "import transformers\ntransformers.pipeline('ner', folder)",
        "from sentence_transformers import SentenceTransformer\nSentenceTransformer(folder)",
        "from datasets import load_dataset\nload_dataset(name)",
        "import open_clip\nopen_clip.create_model_and_transforms(name)",
        "eval(text)",
        "exec(text)",
        "import subprocess\nsubprocess.run(text, shell=True)",
        "from subprocess import run\nrun(text, shell=given)",
        "import os\nos.system(text)",
        "import xml.etree.ElementTree as tree\ntree.parse(path)",
        "from xml.etree.ElementTree import fromstring\nfromstring(text)",
        "import xml.sax\nxml.sax.make_parser()",
        "from lxml import etree\netree.fromstring(text)",
        "import csv\ncsv.DictWriter(file, columns)",
        "from PIL import Image\nImage.open(path)",
        "import PIL.Image\nPIL.Image.open(path, formats=None)",
    ],
)
def test_a_danger_is_seen(text):
    assert list(dangers(text))


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.load(path, weights_only=True)",
        "import pickle\ntry:\n    pass\nexcept pickle.UnpicklingError:\n    pass",
        "import numpy as np\nnp.load(path)",
        "import yaml\nLOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)\nyaml.load(text, LOADER)",
        "import yaml\nyaml.safe_load(text)",
        "from transformers import AutoModel\nAutoModel.from_pretrained(folder, trust_remote_code=False)",
        "model.eval()",
        "import re\nre.compile(text)",
        "import subprocess\nsubprocess.run([text], shell=False)",
        "from defusedxml import ElementTree\nElementTree.parse(path)",
        "from xml.sax.saxutils import quoteattr\nquoteattr(text)",
        "from PIL import Image\nImage.open(file, formats=('JPEG',))",
    ],
)
def test_what_is_safe_is_no_danger(text):
    assert list(dangers(text)) == []
