"""What people look at: figure data as pure functions, and the charts drawn from them.

May touch everything below; writes only files that the user named.
"""
