"""What is asked of DELG's own tool, and that what the tool then writes is what RRT reads."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from scipy.io import loadmat

from stages.kvqae import local_features
from tests.stages.kvqae.test_local_features import IMAGES, jpeg
from tests.vision.local_descriptors.test_extractors import write_delg
from trivium.commands import cli, delg
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import write_json
from trivium.kvqae.rerankers.local_features import SIDES, LocalFeaturesParameters, write_list
from trivium.vision.local_descriptors.delg_files import write_dataset

LONG = "é" * 120 + ".jpg"  # 244 bytes; too many for a file of features
KB = {name: data for name, data in IMAGES.items() if data} | {"a.png": jpeg(5), "a/b.jpg": jpeg(6), LONG: jpeg(7)}
KB |= {"not compared.jpg": jpeg(8), "Curaçao, 1900.tif": jpeg(9)}
COMPARED = sorted({*KB, "nowhere.jpg"} - {"not compared.jpg"})
ASKED = Path("mine/delg/asked/kb")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose lists have been re-ranked; nothing is described yet."""
    monkeypatch.chdir(tmp_path)
    pictures = {"max_side": 256, "max_pixels": 10_000_000}
    kvqae = {"dataset": "rebuilt", "pictures": pictures, "local_features": {"most": 5}}
    world = {"local": {"kvqae_models": "mine"}}
    Path("params.yaml").write_text(yaml.safe_dump({"kvqae": kvqae, "world": world, "run": {"workers": 1}}))
    write_images(Path("data/kvqae/raw/images/kb"), KB.items(), shard_size=3)
    write_images(Path("data/kvqae/rebuilt/images/questions"), [("q.jpg", jpeg(1)), ("r.jpg", jpeg(2))])
    write_list(delg.LISTS / "kb.txt", COMPARED)
    write_list(delg.LISTS / "questions.txt", ["q.jpg"])
    return tmp_path


def tool(side: str) -> list[str]:
    """DELG's tool as it is documented to go: names from the cells of `imlist`, NAME.jpg in, two files of NAME out."""
    asked, out = Path("mine/delg/asked") / side, Path("mine/delg") / side
    described = []
    for cell in np.squeeze(loadmat(asked / "images.mat")["imlist"]):
        name = str(cell[0])
        if not (out / f"{name}.delg_global").exists():
            pixels = np.asarray(Image.open(asked / f"{name}.jpg").convert("RGB"))
            write_delg(out, name, np.full(6, pixels.mean()), [(np.ones(128), 1.0, 2.0)])
            described.append(name)
    return described


def test_the_tool_describes_what_is_asked_for_and_rrt_reads_it(project: Path, capsys: pytest.CaptureFixture[str]):
    cli.run("delg")
    told = capsys.readouterr().out
    described = ["Curaçao, 1900.tif", "a.jpg", "a.png", "b.jpg", "c.jpg"]
    assert "kb: 0 of 9 images are described, 5 to be described\n  4 cannot be read, or have a name that no" in told
    assert "questions: 0 of 1 images are described, 1 to be described\n  python extract_features.py" in told
    assert f"--images_dir {project}/mine/delg/asked/kb --output_features_dir {project}/mine/delg/kb" in told
    assert sorted(path.name for path in ASKED.iterdir()) == sorted(
        [f"{name}.jpg" for name in described] + ["images.mat"]
    )
    assert Path("mine/delg/asked/kb/Curaçao, 1900.tif.jpg").read_bytes() == KB["Curaçao, 1900.tif"]
    assert sorted(tool("kb")) == described
    assert tool("questions") == ["q.jpg"]
    write_json(Path("extractor/extractor.json"), {"kind": "delg_files", "global_dimension": 6})
    argv = f"--images data/kvqae/raw/images/kb --compared {delg.LISTS / 'kb.txt'} --extractor extractor"
    argv += " --name kb --out features"
    counts = execute(local_features.describe_side, "kvqae.local_features", LocalFeaturesParameters, argv.split())
    assert (counts["images"], counts["unreadable_no_features"], counts["images_missing"]) == (9, 4, 1)
    assert counts["unreadable_stem_shared"] == 0  # of a.jpg and a.png
    cli.run("delg")
    told = capsys.readouterr().out
    assert "kb: 5 of 9 images are described, 0 to be described" in told
    assert list(ASKED.iterdir()) == []


def test_one_image_and_many_are_what_the_tool_can_read(tmp_path: Path):
    """It squeezes the cells, which makes one of a single one, and looks at the truth of each query."""
    for names in (["a.jpg"], ["Ünï 1.jpg", "b"], [f"{number}.jpg" for number in range(300)]):
        write_dataset(tmp_path / "images.mat", names)
        read = loadmat(tmp_path / "images.mat")
        assert list(dict.fromkeys(str(cell[0]) for cell in np.squeeze(read["imlist"]))) == names
        assert len([str(cell[0]) for cell in np.squeeze(read["qimlist"])]) == 2
        for truth in np.squeeze(read["gnd"]):
            assert {"easy", "hard", "junk"} <= set(truth.dtype.names)
            assert all((truth[name] - 1).flatten().tolist() == [] for name in ("easy", "hard", "junk"))
            assert np.squeeze(truth["bbx"]).shape == (4,)


def test_without_lists_the_stage_that_makes_them_is_named(project: Path, capsys: pytest.CaptureFixture[str]):
    for side in SIDES:
        (delg.LISTS / f"{side}.txt").unlink()
    delg.LISTS.rmdir()
    with pytest.raises(SystemExit):
        cli.run("delg")
    assert "dvc repro kvqae-local_features" in capsys.readouterr().err
