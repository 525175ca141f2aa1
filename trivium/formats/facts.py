"""The table of facts that are told and asked with a factor and without it (complexity.md §5)."""

import pyarrow as pa

FACTORS = tuple(f"f{number}" for number in range(7))
# A row a version: what it is called, which fact and frame it is of, the corpora whose readers are asked it, of each
# factor whether it has it (null: the fact is not about that), and what is asked.
FACTS = pa.schema(
    [("id", pa.string()), ("fact", pa.string()), ("frame", pa.string()), ("corpora", pa.list_(pa.string())),
     *((factor, pa.bool_()) for factor in FACTORS), ("context", pa.string()), ("question", pa.string()),
     ("answer", pa.string())]
)  # fmt: skip
