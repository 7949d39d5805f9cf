"""Where people and programs come in: the command line, and the wiring behind the public names.

May touch every room.
"""
