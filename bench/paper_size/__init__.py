"""A rehearsal at the papers' size with invented data: `python -m bench.paper_size [PART …]`, for hours, on two cores.

Each part is measured with a tenth of its data and with all of it: processor seconds, whose exponent says how they grow,
and the private memory of the process and its children. Maps of files, which the system takes back, are not counted.
Every trial runs in a fresh process. What was measured is kept, so that an interrupted rehearsal goes on; a part's data
are deleted when it is done.
"""
