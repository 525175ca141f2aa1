import pytest

from trivium.commands.docs_site.links import main, problems

GOOD = """<html><head><link rel="stylesheet" href="a/look.css"><link rel="canonical" href="https://x.org/"></head>
<body id="top"><a href="https://x.org">out</a> <a href="#top">up</a> <a href="b.html#there%20is">b</a> <a href="a/">a</a>
<img src="p.png"></body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<h2 id="there is">x</h2><a href="index.html">back</a>')
    (tmp_path / "a/index.html").write_text('<a href="../b.html">b</a><a href="/b.html">b</a>')
    (tmp_path / "a/look.css").write_text("b{background:url(data:image/png;base64,AAAA)}")
    (tmp_path / "p.png").touch()
    return tmp_path


def test_a_sound_site_has_no_problems(site):
    assert problems(site) == []
    with pytest.raises(SystemExit) as left:
        main([str(site)])
    assert left.value.code == 0


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("b.html", '<a href="c.html">c</a><p id="there is">', "b.html: c.html leads nowhere"),
        ("b.html", "<p>", "index.html: b.html#there%20is leads nowhere"),
        ("c.html", '<img src="q.png">', "c.html: q.png leads nowhere"),
        ("c.html", '<script src="https://cdn.org/x.js"></script>', "c.html: loads https://cdn.org/x.js"),
        ("c.html", '<link rel="preconnect" href="//fonts.org">', "c.html: loads //fonts.org"),
        ("c.html", "<style>@import '//f.org/a.css'</style>", "c.html: loads //f.org/a.css"),
        ("a/look.css", "b{src:url( 'https://f.org/a.woff')}", "look.css: loads https://f.org/a.woff"),
    ],
)
def test_each_kind_of_problem_is_said(site, file, text, problem, capsys):
    (site / file).write_text(text)
    (found,) = problems(site)
    assert found.endswith(problem)
    with pytest.raises(SystemExit) as left:
        main([str(site)])
    assert left.value.code == 1
    assert problem in capsys.readouterr().err


def test_an_empty_site_is_a_problem(tmp_path):
    assert problems(tmp_path) == [f"{tmp_path}: there is no page"]
