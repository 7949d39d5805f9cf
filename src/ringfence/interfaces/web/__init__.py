"""The live page and the HTTP interface over the same storage.

`app.py` composes; `door.py` and `guard.py` decide who may come in; `shelf.py` holds open studies;
`api.py` is for programs, `pages.py` for people. May touch every room.
"""
