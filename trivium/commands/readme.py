"""Keep README.md and docs/ in step with `metrics/`: findings, claims, benches, real data and signed runs.

With --picture also README's picture of the page, which a built project has.
"""

import subprocess
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from bench.tables import bench_table, rehearsal_table
from trivium.claims.verdicts import READERS, TRAININGS, WORLDS, InWorld, Judged, judge, read_evidence
from trivium.core.atomic import write_text
from trivium.core.errors import BadInput
from trivium.page import real
from trivium.page.html import markdown_table, points
from trivium.page.reproduction import LOG, PIPELINES, PUBLISHED, read_cells, read_log, signatures, summary


@cache  # two tables need it, and its intervals take seconds
def judge_claims(root: Path, pipeline: str) -> list[Judged]:
    """The claims of a pipeline, from what `make thorough` left."""
    return list(judge(pipeline, read_evidence(root / "metrics" / "thorough", pipeline)))


def claims_table(root: Path) -> str:
    """Every claim with what was found in each world."""
    rows = []
    for pipeline, name in PIPELINES.items():
        title = f"**{name}**: "
        for row in judge_claims(root, pipeline):
            by_world = {world.world: world for world in row.worlds}
            cells = [_in_world(by_world.get(world)) for world in WORLDS[pipeline]]
            rows.append([f"{title}{row.claim.sentence}", row.claim.measure, *cells, _verdict_text(row)])
            title = ""
    return markdown_table(["claim", "by", "one world", "another", "a third", ""], rows)


def _verdict_text(row: Judged) -> str:
    """The verdict, and of a cost δ of each reader over all worlds and trainings."""
    readers = []
    for reader, mean in row.readers.items():
        low, high = mean.interval()
        readers.append(f"{READERS[reader]} {points(mean.value)} [{points(low)}, {points(high)}]")
    return ": ".join([row.verdict, "; ".join(readers)] if readers else [row.verdict])


def _in_world(world: InWorld | None) -> str:
    """A claim's difference in a world with its interval, in points."""
    if world is None:
        return "–"
    value, low, high = map(points, (world.difference.value, world.difference.low, world.difference.high))
    trainings = "" if world.trainings == len(TRAININGS) else f", {world.trainings} training"
    return f"{value} [{low}, {high}]{trainings}"


def findings_table(root: Path) -> str:
    """README's: of each pipeline the claims that hold in all runs that there are, and how many do not."""
    rows = []
    for pipeline, name in PIPELINES.items():
        claims, runs = judge_claims(root, pipeline), len(WORLDS[pipeline]) * len(TRAININGS)
        positive = [claim for claim in claims if claim.worlds and _is_positive(claim)]
        for claim in positive:
            differences = [world.difference.value for world in claim.worlds]
            deltas = [mean.value for mean in claim.readers.values()]
            values = ", ".join(map(points, deltas or differences))
            done = sum(world.trainings for world in claim.worlds)
            said = claim.verdict if claim.complete else f"not yet: {done} of {runs} runs"
            title = "" if claim is not positive[0] else f"**{name}**: "
            rows.append([title + claim.claim.sentence, claim.claim.measure, values, said])
        refuted = sum(claim.verdict == "does not hold" for claim in claims)
        without = sum(claim.verdict == "no effect" for claim in claims)
        rest = f"{refuted} refuted, {len(claims) - len(positive) - refuted - without} undecided"
        rest = f"{without} without an effect, {rest}" if without else rest
        if not any(claim.worlds for claim in claims):
            rest = "none is measured yet: `make thorough`"
        title = "" if positive else f"**{name}**: "
        rows.append([f"{title}of {len(claims)} claims {rest}", *3 * [""]])
    return markdown_table(["in the sample world", "by", "points by world, or by reader", ""], rows)


def _is_positive(claim: Judged) -> bool:
    """Whether a claim holds in every world that there is, or something costs readers."""
    if claim.readers:
        return claim.verdict in ("holds", "differs")
    return {world.verdict for world in claim.worlds} == {"holds"}


PAGES = ("README.md", "docs/results.md", "docs/bench.md", "docs/reproduction.md")
PICTURE, PAGE = "docs/page.png", "metrics/report/index.html"
PARTS: dict[str, Callable[[Path], str]] = {
    "findings": findings_table,
    "claims": claims_table,
    "bench": bench_table,
    "paper_size": rehearsal_table,
    "real_search": partial(real.markdown, name="search"),
    "real": partial(real.markdown, name="piaf"),
    "real_frames": partial(real.markdown, name="frames"),
    "texts": lambda root: real.sentence(root / real.FOLDER) or real.NOT_MEASURED,
    "signatures": lambda root: signatures(read_log(root / LOG)),
    "summary": lambda root: summary(read_cells(root / PUBLISHED), read_log(root / LOG)),
}


def fill_parts(text: str, root: Path) -> str:
    """The text of a page with all parts between marks renewed."""
    for name, table in PARTS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin in text:
            before, rest = text.split(begin)
            text = f"{before}{begin}{table(root)}\n{end}{rest.split(end)[1]}"
    return text


def photograph(root: Path) -> None:
    """Take README's picture, the first screen of the page, with Chromium."""
    browser = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    picture = [f"--screenshot={(root / PICTURE).absolute()}", "--window-size=1280,900"]
    try:
        subprocess.run([*browser, *picture, f"file://{(root / PAGE).absolute()}"], capture_output=True, check=True)
    except FileNotFoundError:
        problem = "Chromium is needed (Debian: apt-get install chromium)"
        raise BadInput(problem, file=root / PICTURE) from None


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--picture", action="store_true", help="also renew README's picture of the page, by Chromium")


def run(arguments: Namespace) -> None:
    """Renew README.md and the pages of docs/."""
    for page in map(Path, PAGES):
        old = page.read_text(encoding="utf-8")
        if (new := fill_parts(old, Path.cwd())) != old:
            write_text(page, new)
    if arguments.picture:
        photograph(Path.cwd())
