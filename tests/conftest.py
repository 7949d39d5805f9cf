"""What every test shares: Hypothesis draws the same examples on every machine, every time."""

from hypothesis import settings

settings.register_profile("ringfence", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ringfence")
