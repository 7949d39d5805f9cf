"""The rule once, for real: what is pulled, told and decided, and what may never happen.

May touch policies and core; storage and runners are ports that others fill in.
"""
