"""faiss, with matrix products by the kernels that this processor has: whoever needs faiss imports it from here.

Its wheel brings an OpenBLAS of 2021, which takes processors that it does not know for such of 2004: on an Ice Lake
exact search reached 10 of 61 GFLOP/s. So it is told what the processor has, unless somebody has told it already, as
`run.portable` does. It looks while it is loaded, and nothing else is to see it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CORE = "OPENBLAS_CORETYPE"
KERNELS = {"avx512bw": "SkylakeX", "avx2": "Haswell"}  # by what the processor says that it has, the fastest first


@contextmanager
def named_kernels(processor: Path = Path("/proc/cpuinfo")) -> Iterator[None]:
    """Tell an OpenBLAS that is loaded in the block which kernels to take."""
    flags = set(processor.read_text().split()) if processor.exists() else set()
    core = next((name for flag, name in KERNELS.items() if flag in flags), None)
    if core is None or CORE in os.environ:
        yield
        return
    os.environ[CORE] = core
    try:
        yield
    finally:
        del os.environ[CORE]


with named_kernels():
    import faiss as faiss
