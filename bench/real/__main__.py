"""Run `make real`: texts from the package index, then the sets in $TRIVIUM_REAL or ../shared/real."""

from bench.real import REAL, frames, piaf, search

search.main([])
for folder, main in (("piaf", piaf.main), ("asfalda_sequoia", frames.main)):
    if (REAL / folder).is_dir():
        main([])
    else:
        print(f"{folder}: not measured, as {REAL / folder} is not there (docs/results.md says what it holds)")
