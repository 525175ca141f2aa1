import pytest
import yaml

from trivium.nets.cards import licence_of, write_card

FIELDS = {"title": "A", "description": "B.", "base": "C", "data": "D", "metrics": {"mrr": 0.5}}


def front(folder):
    return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])


def test_a_card_in_the_hubs_format(tmp_path):
    write_card(tmp_path, **FIELDS, licence="mit")
    assert front(tmp_path) == {"license": "mit", "library_name": "transformers"}
    assert "| mrr | 0.5000 |" in (tmp_path / "README.md").read_text()
    assert licence_of(tmp_path, without_card="apache-2.0") == "mit"


def test_a_licence_that_is_not_known_is_left_out(tmp_path):
    write_card(tmp_path, **FIELDS, licence=None, library="spacy")
    assert front(tmp_path) == {"library_name": "spacy"}
    assert licence_of(tmp_path, without_card="apache-2.0") is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "# A model\n", "---\nlicense: [mit\n---\n", "---\nlicense: [mit]\n---\n", "---\n"),
        *("---\nreleased: 2024-02-30\n---\n", f"---\nsize: {'9' * 5000}\n---\n", f"---\na: {'[' * 5000}\n---\n"),
        *("---\na: !!int ''\n---\n", "---\na: !!bool x\n---\n", "---\na: !!timestamp x\n---\n"),
    ],
)
def test_cards_of_others_that_state_no_licence(tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    assert licence_of(tmp_path, without_card="apache-2.0") is None


def test_without_a_card(tmp_path):
    assert licence_of(tmp_path, without_card="apache-2.0") == "apache-2.0"
