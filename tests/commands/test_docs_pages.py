import pytest

from trivium.commands.docs import rewritten, write_pages
from trivium.core.errors import BadInput


def fill(root, **files):
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_md", ".md").replace("_yaml", ".yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_links_lead_to_where_files_stand_in_the_site(tmp_path):
    fill(tmp_path, README_md="", docs__a_md="", params_yaml="", docs__README_md="")
    (tmp_path / "docs/page.png").touch()
    text = (
        "[a](a.md#x) ![p](page.png) [all](README.md) [first](../README.md) [p](../params.yaml) [b](https://b.org/c.md)"
    )
    assert rewritten(text, "docs/b.md", tmp_path) == (
        "[a](a.md#x) ![p](page.png) [all](all-pages.md) [first](index.md) [p](repository/params.yaml.md) "
        "[b](https://b.org/c.md)",
        ["docs/a.md", "docs/page.png", "docs/README.md", "README.md", "params.yaml"],
    )
    assert rewritten("[p](../../params.yaml)", "docs/t/c.md", tmp_path)[0] == "[p](../repository/params.yaml.md)"


@pytest.mark.parametrize("target", ["gone.md", "../../outside.md", "../docs"])
def test_a_link_to_no_file_is_refused(tmp_path, target):
    (tmp_path / "docs").mkdir()
    with pytest.raises(BadInput, match=r"docs/a.md: a link to no file of the repository; got"):
        rewritten(f"[a]({target})", "docs/a.md", tmp_path)


def test_pages_are_those_of_docs_and_what_they_link_to(tmp_path):
    fill(tmp_path, README_md="![p](docs/page.png)", docs__a_md="[c](../C_md)".replace("_md", ".md"), C_md="[y](y.yaml)")
    fill(tmp_path, y_yaml="k: 1\n", unlinked_md="", docs__t__b_md="[a](../a.md)")
    (tmp_path / "docs/page.png").write_bytes(b"png")
    out = tmp_path / "out"
    write_pages(tmp_path, out)
    written = sorted(file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file())
    assert written == ["a.md", "index.md", "page.png", "repository/C.md", "repository/y.yaml.md", "t/b.md"]
    assert (out / "index.md").read_text() == "![p](page.png)"
    assert "````yaml\nk: 1\n" in (out / "repository/y.yaml.md").read_text()
