"""Child processes that end with their parent."""

import os
import signal
import threading
from multiprocessing import parent_process


def follow_parent() -> None:
    """End this process when its parent ends, even if it was killed; leave SIGINT to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the process group
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
