"""Keep README.md in step: the stage table from `dvc.yaml`, the headline, the bench and real data from `metrics/`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trivium.files.atomic import write_atomically
from trivium.files.tables import read_json
from trivium.harness.parameters import read_parameters
from trivium.page.headline import NUMBERS


def stage_table(root: Path) -> str:
    """Every stage with its description."""
    stages = read_parameters(root / "dvc.yaml")["stages"]
    rows = [f"| `{name}` | {stage.get('do', stage)['desc']} |" for name, stage in stages.items()]
    return "\n".join(["| stage | |", "|---|---|", *rows])


def headline_table(root: Path) -> str:
    """The committed headline in words, marked as the sample world's."""
    numbers: dict[str, Any] = read_json(root / "metrics" / "headline.json")
    rows = ["| on the sample world, not the papers' data | |", "|---|---|"]
    pipeline = ""
    for name, number in NUMBERS.items():
        if name in numbers:
            before, pipeline = pipeline, name.partition("_")[0]
            title = f"**{PIPELINES[pipeline]}**: " if pipeline != before else ""
            rows.append(f"| {title}{number.label} | {numbers[name]:.3g} |")
    return "\n".join(rows)


def bench_table(root: Path) -> str:
    """The ratios, rates and memory of `make bench`; all that it measured is in `metrics/bench/`."""
    rows = []
    for file in sorted((root / "metrics" / "bench").glob("*.json")):
        for name, value in sorted(read_json(file).items()):
            if isinstance(value, (int, float)) and any(word in name for word in COMPARED):
                rows.append(f"| {file.stem.replace('_', ' ')} | {name.replace('_', ' ')} | {value:.3g} |")
    return "\n".join(["| bench | measure | value |", "|---|---|---|", *rows, "", memory_table(root)])


def memory_table(root: Path) -> str:
    """Peak memory of fresh processes, and the same with ten times the input."""
    rows = []
    for file in sorted((root / "metrics" / "bench").glob("*.json")):
        figures: dict[str, Any] = read_json(file)
        for name in sorted(name for name in figures if name.endswith(MIB)):
            more = f"{name}_ten_times_the_"
            grown = [f"{figures[key]:.0f} ({key.removeprefix(more)})" for key in figures if key.startswith(more)]
            side = "ours" if name == f"peak{MIB}" else name.removesuffix(MIB).replace("_", " ")
            rows.append(f"| {file.stem.replace('_', ' ')} | {side} | {figures[name]:.0f} | {', '.join(grown) or '–'} |")
    return "\n".join(["| bench | memory of | MiB | MiB at ten times (what) |", "|---|---|---|---|", *rows])


def real_table(root: Path) -> str:
    """What `make real` measured on PIAF: a reader beside trivial baselines, dated."""
    file = root / "metrics" / "real" / "piaf.json"
    if not file.is_file():
        return "Not measured yet: `make real`."
    found: dict[str, Any] = read_json(file)
    rows = [
        f"| {name} | " + " | ".join(f"{found[f'{system}_{measure}']:.3f}" for measure in MEASURES) + " |"
        for system, name in SYSTEMS.items()
    ]
    share = 100 * found["mangled_references"]
    said = [
        f"Measured on {found['date']} at commit {found['commit'][:12]}: PIAF 1.0, {found['questions']} questions;",
        f"trained on {found['trained_questions']} of them, asked {found['asked_questions']}",
        f"about {found['asked_articles']} other articles. The paper's tokenizer mangles {share:.1f} % of the reference",
        f"answers. Answers that do not stand at their offset: {found['wrong_offset_answers']}, of the questions",
        f"{', '.join(found['wrong_offset_ids'])}.",
    ]
    better = [
        name for measure, name in MEASURES.items() if found[f"reader_{measure}"] > found[f"overlap_sentence_{measure}"]
    ]
    said.append(f"After so short a training the reader beats that sentence in {' and '.join(better) or 'nothing'}.")
    head = [f"| | {' | '.join(MEASURES.values())} |", "|---" * (1 + len(MEASURES)) + "|"]
    return "\n".join([*said, "", *head, *rows])


SYSTEMS = {
    "reader": "MiniLM, three layers, the sample's French first",
    "overlap_sentence": "sentence with most question words",
    "random_span": "random span",
}
MEASURES = {"em": "EM", "f1": "F1", "rouge_l": "ROUGE-L", "rouge_l_paper": "ROUGE-L, the paper's setting"}
COMPARED = ("ratio", "times_faster", "over_", "per_second", "a_second", "differ", "same_", "seconds_a_question")
MIB = "_mib"
PIPELINES = {"kvqae": "KVQAE", "decorrelation": "Decorrelation", "complexity": "Complexity"}
PARTS: dict[str, Callable[[Path], str]] = {
    "headline": headline_table,
    "stages": stage_table,
    "bench": bench_table,
    "real": real_table,
}


def filled(text: str, root: Path) -> str:
    """README with every part between its marks renewed."""
    for name, table in PARTS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}{table(root)}\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    """Renew README.md, or with --check only say whether it is in step."""
    readme = Path("README.md")
    old = readme.read_text(encoding="utf-8")
    new = filled(old, Path.cwd())
    if "--check" in sys.argv:
        if new != old:
            print("README.md is not in step with dvc.yaml and metrics/: run `make readme`", file=sys.stderr)
            raise SystemExit(1)
    else:
        with write_atomically(readme) as beside:
            beside.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
