"""Decision rules, one a file, ignorant of each other; `registry` lists them.

A rule takes arrays about one study and returns a decision. It may touch core and its arguments.
"""
