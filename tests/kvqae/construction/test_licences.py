"""Which licence names are free."""

import pytest

from trivium.kvqae.construction.commons import licence_standing


@pytest.mark.parametrize(
    "name",
    [
        "cc0",
        "CC0-1.0",
        *("pd", "PD-old-100", "pd-us", "cc-pd", "public-domain", "no-restrictions"),
        *("cc-by-2.0", "CC-BY-SA-3.0", "cc-by-sa-3.0-de", "cc-by-sa-2.5-scotland", "cc-by-3.0-igo", "cc-by-sa-all"),
        *("cc-by-sa-3.0-migrated", "cc-by-sa-3.0,2.5,2.0,1.0", "cc-sa-1.0", "fal-1.3", "gfdl-1.2+"),
        *("attribution-nps", "copyrighted-free-use", "mit", "gpl-2.0+", "odbl", "ogl-3.0", "dl-de-by-2.0"),
    ],
)
def test_free(name):
    assert licence_standing(name) == "free"


@pytest.mark.parametrize("name", ["CC BY-SA 4.0", "cc_by_sa_4.0", "  Public domain ", "Copyrighted free use"])
def test_blanks_and_underscores_are_hyphens(name):
    assert licence_standing(name) == "free"


@pytest.mark.parametrize(
    "name",
    [
        "cc-by-nc-4.0",
        "cc-by-nd-2.0",
        "cc-by-nc-sa-3.0",
        "CC-nc-1.0",
        "fair-use",
        "non-free",
        "all-rights-reserved",
        "copyrighted",
    ],
)
def test_restricted(name):
    assert licence_standing(name) == "restricted"


@pytest.mark.parametrize("name", ["", " ", "my-own-licence", "cc", "cc-by-sa-4.0-but-ask-me", "notpd", "pdx", "by-sa"])
def test_what_the_table_lacks_is_unknown(name):
    assert licence_standing(name) == "unknown"
