"""The matrix of trainings, `decorrelation.cells` of params.yaml: what each cell is, and which cells belong together.

A cell is named `{dataset}_{model}_{variant}_{seed}`; cells that differ only in their seed are one row of a table,
called `{dataset}_{model}_{variant}`. Names of variants:

- `zero_shot` (the model as released), `finetune` (D), `ours` (D ∪ D'); `longer`: D at a multiple of the steps;
  `zero`: D ∪ D' with zero filling, its queries zero filled too (the shortcut that a black box is);
- table 3, `{captions}_{filling}` of D' where that is not as in `ours`, queries as in `ours`: `noun_phrase_blur`,
  `noun_phrase_zero`, `noun_phrase_mean`, `grammatical_inpaint`, `captioner_inpaint`, `prompt_inpaint`;
- figure 4, `share{percent}`: a part of D' (`share25`: a quarter of it), with one caption a picture or several;
- appendix B, `subset` (D_s, as many original pairs as D' has) and `synthetic` (D' alone).

The report finds the rows of a table by what a cell is, not by its name.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, used_values, validate
from trivium.decorrelation.models.kind import KindName
from trivium.decorrelation.painting.filling import FILLINGS, FillingName

SECTION = "decorrelation.cells"
NAME = re.compile(r"(?P<variant>[a-z][a-z0-9_]*)_(?P<seed>\d+)")


class Fields(Parameters):
    """The fields of a cell beside its name; the graph is wired with the first five, so each cell has them."""

    dataset: Literal["coco", "flickr30k", "control"] = Field(description="Data set of pairs, queries and gallery")
    model: KindName = Field(description="Kind of model")
    filling: FillingName = Field(description="Paints the pictures of D'")
    captions: Literal["none", "noun_phrase", "grammatical", "prompt", "captioner"] = Field(
        description="Makes the captions of D'"
    )
    queries: FillingName = Field(description="Paints the test queries")
    original: Literal["all", "subset", "none"] = Field(
        default="all", description="D, as many of its pairs as D' has, or none"
    )
    share: float = Field(default=1.0, ge=0, le=1, description="Part of D' that is used (figure 4)")
    captions_an_image: int = Field(
        default=1, ge=1, le=5, description="Captions of a painted picture that are used, of those in D' (figure 4)"
    )
    steps: float = Field(default=1.0, gt=0, description="Multiple of the model's steps")

    @model_validator(mode="after")
    def _consistent(self) -> "Fields":
        if (self.filling == "none") != (self.captions == "none"):
            raise ValueError("filling and captions make D' together: both are none, or neither")
        if self.queries == "none":
            raise ValueError("queries must be painted: their filling cannot be none")
        return self


class Cell(Fields):
    """One training, and the queries that its model is asked."""

    variant: str = Field(description="What it is trained on; see the module")
    seed: int = Field(ge=0, description="Of the training")

    @property
    def group(self) -> str:
        """The name of the cells of all seeds together."""
        return f"{self.dataset}_{self.model}_{self.variant}"

    @property
    def synthetic(self) -> bool:
        """Whether it is trained on pairs of D'; a subset of D only takes the number of its pairs from there."""
        return self.captions != "none" and self.share > 0 and self.original != "subset"

    @property
    def recipe(self) -> str:
        """The recipe of D', in words of table 3: `{captions}_{filling}`, all that in-paint under one name."""
        return f"{self.captions}_{'inpaint' if FILLINGS[self.filling].inpaints else self.filling}"

    def differs(self, other: "Cell") -> list[str]:
        """The fields, seed aside, in which two cells differ."""
        mine, theirs = self.model_dump(exclude={"seed"}), other.model_dump(exclude={"seed"})
        return [name for name, value in mine.items() if theirs[name] != value]


def parse_cell(name: str, values: dict[str, Any], file: Path) -> Cell:
    """One cell; variant and seed are said by its name. `BadInput` for a wrong field, or a name that does not fit."""
    fields = validate(Fields, values, f"{SECTION}.{name}", file)
    prefix = f"{fields.dataset}_{fields.model}_"
    match = NAME.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
    if match is None:
        raise BadInput("wrong name", file=file, field=SECTION, got=name, expected=f"{prefix}{{variant}}_{{seed}}")
    return validate(Cell, {**values, **match.groupdict()}, f"{SECTION}.{name}", file)


def parse_cells(values: Mapping[str, Any], file: Path) -> dict[str, Cell]:
    """Check the mapping of cells.

    Raises:
        BadInput: no cell, one that is wrong (see `parse_cell`), or cells of one group that differ in more than their
            seed.
    """
    if not values:
        raise BadInput("no cell", file=file, field=SECTION)
    cells = {name: parse_cell(name, fields, file) for name, fields in values.items()}
    for group, members in groups(cells).items():
        first, *others = members.values()
        for other in others:
            if different := first.differs(other):
                raise BadInput(
                    f"seeds of {group} differ in more than their seed", file=file, field=SECTION, got=different
                )
    return cells


def read_cells(file: Path) -> dict[str, Cell]:
    """The cells of a params.yaml, in its order; raises as `parse_cells`."""
    return parse_cells(used_values(file, SECTION), file)


def groups(cells: Mapping[str, Cell]) -> dict[str, dict[str, Cell]]:
    """{group: its cells by name}, groups and cells in their order."""
    members: dict[str, dict[str, Cell]] = {}
    for name, cell in cells.items():
        members.setdefault(cell.group, {})[name] = cell
    return members
