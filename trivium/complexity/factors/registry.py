"""The factors there are, which of them run, and the table of what each says of every example (complexity.md §4).

A factor is yes (E_f, expected harder), no (Ē_f) or neither (null, counted).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field, create_model, model_validator

from trivium.complexity.effects.analysed_tables import schema
from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor
from trivium.core.parameters import Parameters
from trivium.core.registry import Registry
from trivium.formats.framed_texts import Example
from trivium.measures.agreement import cramers_v

FAMILY = "trivium.complexity.factors.members"
FACTORS: Registry[Factor] = Registry(FAMILY, "factor", "complexity.factors")  # in the order in which tables show them


class FactorsParameters(Parameters):
    """Section `complexity.factors`: the parameters of each factor that runs, by its name."""

    @model_validator(mode="after")
    def _some_factor(self) -> "FactorsParameters":
        if not self.chosen():
            raise ValueError("expected at least one factor")
        return self

    def chosen(self) -> list[Factor]:
        """The factors that run."""
        sections = {name: getattr(self, name) for name in type(self).model_fields}
        return [FACTORS[name](values) for name, values in sections.items() if values is not None]


def _fields() -> dict[str, Any]:
    return {
        name: (
            factor.settings | None,
            Field(default=None, description=f"{factor.description} Absent or null: not asked"),
        )
        for name, factor in FACTORS.items()
    }


AnyFactors: type[FactorsParameters] = create_model("AnyFactors", __base__=FactorsParameters, **_fields())


def table_schema(factors: Sequence[Factor]) -> pa.Schema:
    """The schema of the table of these factors; columns behind them stand in alphabetical order."""
    columns = {name: kind for factor in factors for name, kind in factor.columns.items()}
    others = {factor.name: factor.other_label for factor in factors if getattr(factor.parameters, "other_reading", 0)}
    columns |= {f"{name}_other": pa.bool_() for name in others}
    return schema({factor.name: factor.label for factor in factors}, dict(sorted(columns.items())), others)


def factor_rows(
    examples: Sequence[Example], corpora: Corpora, factors: Sequence[Factor]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """One row of `table_schema` an example, and the metrics: shares of yes, uncounted examples, what factors count."""
    judged = {factor.name: factor.judge(examples, corpora) for factor in factors}
    columns = {name: answer.says for name, answer in judged.items()}
    columns |= dict(sorted((name, values) for answer in judged.values() for name, values in answer.columns.items()))
    columns |= {f"{name}_other": answer.other for name, answer in judged.items() if answer.other is not None}
    rows = [
        {
            "id": example.id,
            "text_id": example.text.id,
            "frame": example.frame.frame,
            "answer_element": example.answer_element,
            **{name: values[row] for name, values in columns.items()},
        }
        for row, example in enumerate(examples)
    ]
    metrics = {"examples": float(len(examples)), "known_forms": float(len(corpora.inflections))}
    for name, answer in judged.items():
        metrics |= answer.metrics
        if answer.other is not None:
            metrics[f"{name}_other_share"] = sum(map(bool, answer.other)) / len(rows)
            metrics[f"{name}_other_uncounted"] = float(sum(says is None for says in answer.other))
    return rows, metrics | summary(rows, list(judged))


def summary(rows: Sequence[Mapping[str, Any]], factors: Sequence[str]) -> dict[str, float]:
    """Each factor's share of yes among all examples, uncounted examples, Cramér's V with the answer element.

    V as it is (`_balance`) and without its bias (`_balance_corrected`).
    """
    metrics = {}
    for name in factors:
        counted = [row for row in rows if row[name] is not None]
        metrics[f"{name}_share"] = sum(row[name] for row in counted) / len(rows)
        metrics[f"{name}_uncounted"] = float(len(rows) - len(counted))
        if counted:
            sorted_two_ways = [row["answer_element"] for row in counted], [row[name] for row in counted]
            for key, corrected in (("balance", False), ("balance_corrected", True)):
                balance = cramers_v(*sorted_two_ways, corrected=corrected)
                metrics |= {} if balance is None else {f"{name}_{key}": balance}
    return metrics
