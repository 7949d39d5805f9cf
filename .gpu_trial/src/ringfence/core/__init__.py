"""Values and arithmetic: problems, gaps, hardness, schedules, intervals, random streams.

Imports nothing of ringfence but itself, and neither compilers nor files.
"""
