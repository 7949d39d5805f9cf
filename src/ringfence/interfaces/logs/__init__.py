"""Logs of evaluations that other tools wrote, as tables: a row for an option on an item.

One file a format. They need none of these tools; may touch core and the files that were named.
"""
