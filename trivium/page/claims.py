"""What stands first on the page: a sentence of each pipeline with its verdict, and a picture that shows it."""

from trivium.claims.registry import Verdict
from trivium.page.common import environment


def verdict(difference: float, p: float, level: float) -> Verdict:
    """Of a claim that something is more than something else, by a two-sided test."""
    if p > level or difference == 0:
        return "cannot tell"
    return "holds" if difference > 0 else "does not hold"


def claim_html(sentence: str, said: Verdict, seen: str) -> str:
    """A sentence, its verdict, and what of it was seen in this run; all of it is escaped."""
    return environment().get_template("claim.html").render(sentence=sentence, verdict=said, seen=seen)


def not_asked_html(sentence: str) -> str:
    """A sentence whose comparison this run did not make."""
    return claim_html(sentence, "cannot tell", "This run does not compare the two.")
