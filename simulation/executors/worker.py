"""A worker process of the local executor: parts come in as pickles, answers go out.

It ends with its input, also by the death of its parent.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from typing import IO, Any

from simulation.executors.base import attempt


def main() -> None:
    """Work until there is no more input."""
    # What anything else prints must not be taken for an answer.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        with contextlib.suppress(BrokenPipeError, EOFError):
            serve(sys.stdin.buffer, answers)


def serve(parts: IO[bytes], answers: IO[bytes]) -> None:
    """Answer parts one after the other.

    Raises:
        EOFError: there are no more.
    """
    values: dict[int, Any] = {}
    while True:
        message = pickle.load(parts)  # noqa: S301 - it comes from our parent
        pickle.dump(attempt(_answer, values, message), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _answer(values: dict[int, Any], message: bytes) -> Any:
    """Work on a part; a message that cannot be read here is an error like any other."""
    handle, value, function, part = pickle.loads(message)  # noqa: S301 - it comes from our parent
    if value:
        (values[handle],) = value
    return function(values[handle], part)


if __name__ == "__main__":
    main()
