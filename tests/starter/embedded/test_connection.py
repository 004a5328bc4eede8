"""What a connection to Temporal leaves for the end of its process."""

import subprocess
import sys

PROGRAM = """
import _thread, atexit, os, select
import mnestic.starter.embedded.connection

begun, begin = os.pipe()
ended, end = os.pipe()


def hand_over():
    os.write(begin, b"x")
    os.read(ended, 1)
    for _ in range(1000):
        select.select([], [], [], 0)  # the interpreter's lock is let go and taken again
    print("handed over", flush=True)


_thread.start_new_thread(hand_over, ())  # as one of another language: `threading` does not know it
os.read(begun, 1)
atexit.register(os.write, end, b"x")
"""


def test_a_thread_of_another_language_returns_before_the_interpreter_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "handed over\n")
