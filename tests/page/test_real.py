"""What `make real` left, in words and tables: on the page's first screen, in README and in docs/results.md."""

from trivium.core.tables import write_json
from trivium.page import real

STAMP = {"date": "2030-01-02", "commit": "0123456789abcdef"}


def figures(mrr, gain, verbatim=0):
    values = {
        f"{system}_{name}{end}": mrr + shift
        for system in real.SEARCHERS
        for name in real.SEARCH
        for end, shift in (("", 0), ("_low", -0.01), ("_high", 0.01))
    }
    values |= {"fused_mrr_p": 0.0001, "minilm_mrr_p": 0.5} | {
        f"fused_mrr_gain{end}": gain + shift for end, shift in (("", 0), ("_low", -0.02), ("_high", 0.02))
    }
    counts = {"articles": 10_033, "passages": 13_001, "choosing": 3000, "asked": 2999, "verbatim": verbatim}
    without = {f"{system}_mrr_without_verbatim": 0.7 for system in real.SEARCHERS}
    return values | counts | without | {"weights": {"bm25": 0.6, "minilm": 0.4}}


def written(folder):
    found = {"english": figures(0.8, 0.045, verbatim=300), "french": figures(0.6, -0.01)}
    write_json(folder / "metrics/real/search.json", STAMP | found)


def test_what_was_searched_is_told_with_intervals_and_tests(tmp_path):
    assert real.markdown(tmp_path, "search") == "Not measured yet: `make real`."
    written(tmp_path)
    text = real.markdown(tmp_path, "search")
    for told in (
        "Measured on 2030-01-02 at commit 0123456789ab.",
        "English encyclopedia: 10 033 articles in 13 001 passages;",
        "3 000 questions chose the weights (BM25 0.6, MiniLM 0.4),\n2 999 others measure.",
        "gain +4.5 [2.5, 6.5] points of MRR",
        "300 of these descriptions stand in their article word for word;\nwithout them MRR is BM25 0.700,",
        "| | MRR | P@1 | Hits@20 |",
        "| French encyclopedia: both | 0.600 [0.590, 0.610], p < 0.001 | 0.600 [0.590, 0.610] |",
    ):
        assert told in text
    assert text.count("word for word") == 1  # of the French ones none does


def test_the_first_screen_and_readme_say_it_in_a_sentence(tmp_path):
    folder = tmp_path / "metrics/real"
    assert (real.html(folder), real.sentence(folder)) == ("", "")
    written(tmp_path)
    told = real.sentence(folder)
    assert "reach MRR\n0.80 and 0.60, +4.5 and −1.0 points" in told
    page = real.html(folder)
    assert told in page
    assert page.count("<tr>") == 1 + 6
    assert "Vaswani" not in page
