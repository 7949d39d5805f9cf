"""The command line: parse, call, show.

May touch every room; heavy rooms are entered only by the commands that need them.
"""
