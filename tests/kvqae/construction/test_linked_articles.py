from trivium.kvqae.construction.linking import page_title, without_parentheses


def test_titles_as_kilt_has_them():
    assert page_title("ada_Lark_(ship)") == "Ada Lark (ship)"
    assert without_parentheses("Ada Lark (ship)") == "Ada Lark"
    assert without_parentheses("Ada (band) Lark") == "Ada (band) Lark"
    assert without_parentheses("(Untitled)") == "(Untitled)"
