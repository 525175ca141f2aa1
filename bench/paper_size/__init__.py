"""Rehearsal at the papers' size with invented data: `python -m bench.paper_size [PART …]`, for hours, on two cores.

Each part is measured with a tenth of its data and with all of it: processor seconds, their exponent of growth, and the
private memory of the process and its children, without memory-mapped files, which the system can reclaim. Each trial
runs in a fresh process. Measurements are kept, so that an interrupted rehearsal continues; a part's data are deleted
when it is done.
"""
