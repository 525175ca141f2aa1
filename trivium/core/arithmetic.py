"""The same bits on every machine: what numeric libraries must be told before they are loaded.

Libraries choose their kernels by the processor, and kernels differ in the last bits of a sum; a training amplifies them
into other findings. `run.portable` in `params.yaml` chooses:

- `intel`: float32 and one thread everywhere, networks by kernels for AVX-512 on an Intel processor that has it, else
  for AVX2 (products take twice as long), as on every AMD. Equal to the bit on Intel processors that have AVX-512, on
  Intel ones that have AVX2 alone, and on AMD ones of one kind.
- `x86`: the same with AVX2, and MKL computes as on any processor (five times as long a product), for AMD as well.
- `false`: the fastest kernels of this machine, bf16 where the processor has it, as many threads as are free.

What dispatches, and how each was found to be held, stands in docs/reproducibility.md.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import yaml

Portable = Literal["intel", "x86", False]

# For worker processes and for whoever asks for the precision: one of the settings above, `false` in letters.
PORTABLE = "TRIVIUM_PORTABLE"

_AVX2 = {
    "OMP_NUM_THREADS": "1",  # sums are split by threads
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "MKL_CBWR": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "FAISS_SIMD_LEVEL": "AVX2",
    "OPENCV_IPP": "avx2",
    "BLIS_ARCH_TYPE": "haswell",
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx512",
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
    "MKL_ENABLE_INSTRUCTIONS": "AVX512",
    "MKL_CBWR": "AVX512",
}
CPUINFO = Path("/proc/cpuinfo")


def has_avx512(cpuinfo: str) -> bool:
    """Whether a processor, as `/proc/cpuinfo` describes it, is Intel's and has what oneDNN and MKL call AVX-512."""
    return "GenuineIntel" in cpuinfo and {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= set(cpuinfo.split())


_INTEL = _AVX2 | (_AVX512 if CPUINFO.exists() and has_avx512(CPUINFO.read_text()) else {})
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "intel": _INTEL,
    "haswell": _AVX2,  # what `intel` is without AVX-512, for the test on an emulated processor; no value of a parameter
    "x86": _AVX2 | {"MKL_CBWR": "COMPATIBLE"},
}


def settle(parameters: Path = Path("params.yaml")) -> None:
    """Set the environment as `run.portable` of a parameter file says; before NumPy and torch are imported.

    A file that cannot be read, or another value, is left to the stage's own check, which says what is wrong.
    """
    try:
        tree = yaml.load(parameters.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        chosen = (tree.get("run") or {}).get("portable")
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError):
        return
    os.environ.update(SETTINGS.get(chosen, {}) if isinstance(chosen, str) else {})


def settle_command() -> None:
    """`settle` for `python -m stages …`, whose package is imported before its module's libraries are."""
    if sys.argv[0] != "-m":  # which it is while Python looks for the module
        return
    parser, file = argparse.ArgumentParser(add_help=False), Path("params.yaml")
    parser.add_argument("--params", type=Path, nargs="?", const=file, default=file)  # as `parser_of` takes it
    settle(parser.parse_known_args()[0].params)


def remember(portable: Portable) -> None:
    """Keep the setting in the environment, for this process and its workers."""
    os.environ[PORTABLE] = portable or "false"


def is_portable() -> bool:
    """Whether the running stage is to give the same bits on other processors."""
    return os.environ.get(PORTABLE, "false") != "false"


def is_fast() -> bool:
    """Whether the running stage may use the fastest kernels of this processor."""
    return os.environ.get(PORTABLE) == "false"
