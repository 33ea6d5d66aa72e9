"""Make the static table from a sentence transformer: once, offline, by a maintainer.

    python -m simulation.encoders.distil MODEL_FOLDER OUT_FOLDER

MODEL_FOLDER holds all-MiniLM-L6-v2 or another model with a BERT WordPiece vocabulary. Needs torch
and transformers (the extra "sentence-transformers"); about half a minute on one core.

The steps, after Tulkens and van Dongen (Model2Vec, 2024) and Arora, Liang and Ma (A simple but
tough-to-beat baseline for sentence embeddings, ICLR 2017):

1. Each token alone between [CLS] and [SEP] goes through the transformer; the mean over the three
   positions is its vector x_i.
2. Its probability in running text is taken from its place in the vocabulary, which lists words
   from "the" on by falling frequency: Zipf, p_i proportional to 1 / (2 + place). Marks and single
   characters stand before "the" and count as frequent as it.
3. Centre: subtract sum_i p_i x_i over the words, the vector of an average text, so that
   unrelated texts have a cosine near 0. (Model2Vec subtracts the unweighted mean.)
4. Principal components: keep the first WIDTH directions.
5. Weight by a / (a + p_i), a = 1e-3: a frequent word says little (smooth inverse frequency).
6. Round each row to int8 times an integer multiplier in a unit common to all rows.

Nothing is drawn at random. Two runs on one machine write the same bytes; another processor or
version may move single entries by 1.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from simulation.encoders.base import fingerprint
from simulation.encoders.static import FILES, FORMAT, MAX_MULTIPLIER
from simulation.errors import EncoderError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

WIDTH: Final = 256
SMOOTHING: Final = 1e-3
"""The `a` of smooth inverse frequency: the value that its authors propose."""

_SPECIAL: Final = frozenset(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
_FIRST_WORD: Final = "the"
_UNKNOWN: Final = "[UNK]"
_BATCH: Final = 256
_LARGEST: Final = 127


def main(arguments: Sequence[str]) -> int:
    """Distil a model folder into an output folder and say what was written."""
    try:
        model, out = (Path(argument) for argument in arguments)
    except ValueError:
        sys.stderr.write("usage: python -m simulation.encoders.distil MODEL_FOLDER OUT_FOLDER\n")
        return 2
    digest = distil(model, out)
    sys.stdout.write(f"{digest}  {out}\n")
    return 0


def distil(model: Path, out: Path) -> str:
    """Write table.npy, multipliers.npy, tokenizer.json and manifest.json; return the fingerprint.

    Args:
        model: A sentence-transformers folder with `tokenizer.json` and `model.safetensors`.
        out: A folder; made when it is not there.

    Raises:
        EncoderError: The folder holds no BERT WordPiece tokenizer.
        MissingPackageError: torch or transformers is not installed.
    """
    tokenizer, rows = token_rows(model)
    table, multipliers = quantise(rows)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "table.npy", table)
    np.save(out / "multipliers.npy", multipliers)
    (out / "tokenizer.json").write_text(tokenizer, encoding="utf-8", newline="\n")
    return _manifest(model, out, shape=table.shape)


def token_rows(model: Path) -> tuple[str, NDArray[np.float64]]:
    """Return the compact tokenizer as JSON and its weighted rows before rounding, (V, WIDTH).

    Raises:
        EncoderError: The folder holds no BERT WordPiece tokenizer.
        MissingPackageError: torch or transformers is not installed.
    """
    source = _tokenizer(model)
    tokens = _tokens(source)
    probability, is_word = zipf(tokens)
    vectors = token_vectors(model, source, tokens)
    rows = reduce(vectors, probability * is_word) * sif(probability)[:, None]
    return _compact(source, tokens), rows


def zipf(tokens: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the probability of each token in running text, and which tokens are words.

    The probabilities of the words sum to 1; those before "the" have the probability of "the".

    Raises:
        EncoderError: "the" is not a token, so the order means nothing.
    """
    if _FIRST_WORD not in tokens:
        raise EncoderError('the vocabulary has no "the": it is not an English BERT vocabulary')
    place = np.arange(len(tokens)) - list(tokens).index(_FIRST_WORD)
    is_word = place >= 0
    weight = 1.0 / (2.0 + np.maximum(place, 0))
    return weight / weight[is_word].sum(), is_word


def sif(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a / (a + p) in (0, 1]: smooth inverse frequency (Arora, Liang and Ma 2017)."""
    return SMOOTHING / (SMOOTHING + probability)


def reduce(
    vectors: NDArray[np.float32], probability: NDArray[np.float64], width: int = WIDTH
) -> NDArray[np.float64]:
    """Centre at the mean of running text and keep the first principal directions.

    Args:
        vectors: (V, D), one a token.
        probability: (V,), sums to 1; weights the mean.
        width: Directions to keep, at most D.

    Returns:
        (V, width). Each direction points to where its largest entry is positive, since an
        eigenvector's sign is arbitrary.
    """
    centred = vectors.astype(np.float64)
    centred -= probability @ centred
    _, directions = np.linalg.eigh(centred.T @ centred)
    kept = directions[:, ::-1][:, :width]
    largest = np.abs(kept).argmax(axis=0)
    kept = kept * np.sign(kept[largest, np.arange(kept.shape[1])])
    reduced: NDArray[np.float64] = centred @ kept
    return reduced


def quantise(rows: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Write each row as int8 numbers times an integer multiplier, in a unit common to all.

    Args:
        rows: (V, width), not all zero.

    Returns:
        table (V, width) in -127..127 and multipliers (V,) in 1..MAX_MULTIPLIER, so that
        `rows ~ unit * multipliers[:, None] * table`.
    """
    peak = np.abs(rows).max(axis=1)
    unit = peak.max() / (_LARGEST * MAX_MULTIPLIER)
    multipliers = np.maximum(np.rint(peak / (_LARGEST * unit)), 1.0)
    scaled = np.rint(rows / (unit * multipliers[:, None]))
    table = np.clip(scaled, -_LARGEST, _LARGEST).astype(np.int8)
    return table, multipliers.astype(np.uint16)


def token_vectors(model: Path, source: Tokenizer, tokens: Sequence[str]) -> NDArray[np.float32]:
    """Run each token alone through the transformer, (V, D), in batches of a fixed size.

    One thread: how torch splits a sum among threads may change its last digits.
    """
    torch, transformers = _needed("torch"), _needed("transformers")
    torch.set_num_threads(1)
    network = transformers.AutoModel.from_pretrained(str(model), local_files_only=True).eval()
    start, end = source.token_to_id("[CLS]"), source.token_to_id("[SEP]")
    ids = [[start, source.token_to_id(token), end] for token in tokens]
    parts = []
    with torch.inference_mode():
        for first in range(0, len(ids), _BATCH):
            batch = torch.tensor(ids[first : first + _BATCH])
            hidden = network(input_ids=batch, attention_mask=torch.ones_like(batch))
            parts.append(hidden.last_hidden_state.mean(1).numpy())
    return np.concatenate(parts)


def _tokenizer(model: Path) -> Tokenizer:
    """Read the model's tokenizer and check its kind."""
    try:
        tokenizer = Tokenizer.from_str((model / "tokenizer.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise EncoderError(f"{model} is not a model folder: {error}") from error
    if not isinstance(tokenizer.model, WordPiece):
        raise EncoderError(f"{model}: only WordPiece tokenizers can be distilled")
    return tokenizer


def _tokens(source: Tokenizer) -> list[str]:
    """Return the tokens in the order of the vocabulary, without special and unused ones."""
    vocabulary = source.get_vocab(with_added_tokens=False)
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    return [t for t in ordered if t not in _SPECIAL and not t.startswith("[unused")]


def _compact(source: Tokenizer, tokens: Sequence[str]) -> str:
    """Return the tokenizer with ids that are row numbers; the unknown token comes last.

    Special tokens go: "[MASK]" in a post is a word like any other.
    """
    content = json.loads(source.to_str())
    content["model"]["vocab"] = {token: row for row, token in enumerate((*tokens, _UNKNOWN))}
    content.update(added_tokens=[], truncation=None, padding=None, post_processor=None)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _manifest(model: Path, out: Path, *, shape: tuple[int, ...]) -> str:
    """Write what the table is made of, and return its fingerprint."""
    digests = {name: _sha256(out / name) for name in FILES}
    manifest = {
        "format": FORMAT,
        "rows": shape[0],
        "width": shape[1],
        "smoothing": SMOOTHING,
        "source_sha256": _sha256(model / "model.safetensors"),
        "made_with": {
            name: str(_needed(name).__version__)
            for name in ("numpy", "tokenizers", "torch", "transformers")
        },
        "sha256": digests,
        "fingerprint": fingerprint(digests),
    }
    text = json.dumps(manifest, indent=2) + "\n"
    (out / "manifest.json").write_text(text, encoding="utf-8", newline="\n")
    return fingerprint(digests)


def _sha256(path: Path) -> str:
    """Return a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _needed(package: str) -> Any:
    """Import a package that only distilling needs."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackageError(package, "sentence-transformers") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
