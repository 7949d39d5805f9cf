"""The process that computes for pages: bounded in memory, and ended when its server is.

It takes one piece of work on standard input, and writes on standard output how far it is and what
came of it. May touch itself.
"""

import os
import pickle
import sys
import threading
from typing import Any, BinaryIO

COMMAND = "from ringfence.interfaces.web.worker import main; main()"
_NICE = 5  # who asks and tells comes first


def main() -> None:
    """Do the piece of work that is on standard input."""
    memory = int(sys.argv[1])
    _bound(memory)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no result
    from ringfence.core.errors import RingfenceError

    try:
        work = pickle.load(sys.stdin.buffer)  # noqa: S301 - our server's own
        threading.Thread(target=_end_with_server, daemon=True).start()
        _say(out, "result", work.run(lambda text: _say(out, "said", text)))
    except RingfenceError as error:
        _say(out, "problem", str(error))
    except MemoryError:
        _say(out, "problem", too_large(memory))
    except Exception as error:  # noqa: BLE001 - shown where the result would have been
        _say(out, "problem", f"{type(error).__name__}: {error}")
    os._exit(0)  # threads of libraries are not waited for


def too_large(memory: int) -> str:
    """Return what is said of work that needs more memory than it may have."""
    return f"this needs more than {memory / 2**30:.3g} GiB of memory. Use: ringfence plan FILE."


def _say(out: BinaryIO, kind: str, content: Any) -> None:
    pickle.dump((kind, content), out)
    out.flush()


def _end_with_server() -> None:
    """End this process when the server's end of the pipe is closed, however that came about."""
    os.read(0, 1)
    os._exit(1)


def _bound(memory: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    # Where address space is cheap (threads reserve it), what can be written to is what counts.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    for limit, most in ((kind, memory), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, hard))
    os.nice(_NICE)
