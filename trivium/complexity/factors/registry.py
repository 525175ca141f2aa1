"""The factors there are, which of them run, and the table of what each says of every example (complexity.md §4).

A factor is yes (E_f, expected harder), no (Ē_f) or neither (null, counted).
"""

from collections.abc import Sequence
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


_FIELDS: dict[str, Any] = {
    name: (factor.settings | None, Field(default=None, description=f"{factor.description} Absent or null: not asked"))
    for name, factor in FACTORS.items()
}
AnyFactors: type[FactorsParameters] = create_model("AnyFactors", __base__=FactorsParameters, **_FIELDS)


def table_schema(factors: Sequence[Factor]) -> pa.Schema:
    """The schema of the table of these factors; columns behind them stand in alphabetical order."""
    columns = {name: kind for factor in factors for name, kind in factor.columns.items()}
    others = {factor.name: factor.other_label for factor in factors if getattr(factor.parameters, "other_reading", 0)}
    columns |= {f"{name}_other": pa.bool_() for name in others}
    return schema({factor.name: factor.label for factor in factors}, dict(sorted(columns.items())), others)


def factor_table(
    examples: Sequence[Example], corpora: Corpora, factors: Sequence[Factor]
) -> tuple[pa.Table, dict[str, float]]:
    """One row of `table_schema` an example, and the metrics: shares of yes, uncounted examples, what factors count."""
    judged = {factor.name: factor.judge(examples, corpora) for factor in factors}
    elements = [example.answer_element for example in examples]
    columns: dict[str, Sequence[Any]] = {
        "id": [example.id for example in examples],
        "text_id": [example.text.id for example in examples],
        "frame": [example.frame.frame for example in examples],
        "answer_element": elements,
    }
    metrics = {"examples": float(len(examples)), "known_forms": float(len(corpora.inflections))}
    for name, answer in judged.items():
        columns |= {name: answer.says, **answer.columns}
        metrics |= {**answer.metrics, **_describe(name, answer.says, elements)}
        if answer.other is not None:
            columns[f"{name}_other"] = answer.other
            metrics[f"{name}_other_share"] = sum(map(bool, answer.other)) / len(examples)
            metrics[f"{name}_other_uncounted"] = float(sum(says is None for says in answer.other))
    return pa.table(columns, table_schema(factors)), metrics


def _describe(name: str, says: Sequence[bool | None], elements: Sequence[str]) -> dict[str, float]:
    """A factor's share of yes among all examples, uncounted examples, Cramér's V with the answer element.

    V as it is (`_balance`) and without its bias (`_balance_corrected`).
    """
    counted = [(element, answer) for element, answer in zip(elements, says, strict=True) if answer is not None]
    metrics = {f"{name}_share": sum(answer for _, answer in counted) / len(says)}
    metrics[f"{name}_uncounted"] = float(len(says) - len(counted))
    for key, corrected in (("balance", False), ("balance_corrected", True)) if counted else ():
        balance = cramers_v(*zip(*counted, strict=True), corrected=corrected)
        metrics |= {} if balance is None else {f"{name}_{key}": balance}
    return metrics
