"""What every test shares: Hypothesis draws the same examples on every machine, every time.

And libraries of linear algebra keep to one thread, in our processes too: tests run side by side,
and threads that wait for each other's turn burn the time of both. And interrupts are heard: who is
started in the background by a shell ignores them, and so would every process of ours.
"""

import os
import signal

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

signal.signal(signal.SIGINT, signal.default_int_handler)

from hypothesis import settings  # noqa: E402

settings.register_profile("ringfence", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ringfence")
