"""Runs a command and ends it when this program's standard input ends, even by kill -9 of the parent.

A program of its own, without imports of the package: python _supervise.py COMMAND...
"""

import os
import signal
import subprocess
import sys
import threading

GRACE_S = 40
"""The service lets rollouts and servers end for 30 s."""


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A session of its own: Ctrl-C of the terminal is for the parent.
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        child.terminate()
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)

    threading.Thread(target=end_with_parent, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)
