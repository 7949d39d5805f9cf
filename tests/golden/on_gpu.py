"""Counts on a GPU, under numba-cuda's simulator, as JSON: NUMBA_ENABLE_CUDASIM=1 must be set.

The simulator runs kernels as plain Python, thread by thread; it must be asked for before Numba is
imported, so this runs in a process of its own.
"""

import json
import sys

from tests.golden import cells

if __name__ == "__main__":
    found = {cell.key: cells.counted(cell, engine="cuda") for cell in cells.ON_GPU}
    sys.stdout.write(json.dumps(found))
