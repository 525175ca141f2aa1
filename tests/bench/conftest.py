"""ranx, the independent implementation, would compile for a minute before its first answer; on test sizes plain
Python is instant.
"""

import os

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
