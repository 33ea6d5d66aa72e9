"""An embeddings endpoint: OpenAI's own or any server that speaks its protocol.

The weights are the server's, so `sha256` can only name the endpoint and the model; and a server
may answer the same text a little differently next time. A run stores the vectors it used.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import numpy as np
import openai

from simulation.encoders.base import clean, unit_rows
from simulation.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import EncoderSpec

PROVIDER: Final = "https://api.openai.com/v1"
DEFAULT_MODEL: Final = "text-embedding-3-small"
BATCH_SIZE: Final = 128
TIMEOUT: Final = 60.0
"""Seconds for one request; the SDK repeats a failed one twice, with back-off and Retry-After."""

_NO_KEY: Final = "none"
_EXCERPT: Final = 300


def build(spec: EncoderSpec) -> OpenAIEncoder:
    """Return the encoder for `spec.model` at `spec.base_url`; nothing is sent yet.

    Raises:
        UsageError: OpenAI's own endpoint without a key.
    """
    return OpenAIEncoder(
        model=spec.model or DEFAULT_MODEL,
        base_url=spec.base_url or PROVIDER,
        api_key=spec.api_key,
        batch_size=spec.batch_size or BATCH_SIZE,
    )


class OpenAIEncoder:
    """An embeddings endpoint behind the official SDK."""

    def __init__(
        self, *, model: str, base_url: str, api_key: str | None, batch_size: int = BATCH_SIZE
    ) -> None:
        """Prepare the client; nothing is sent yet.

        Args:
            model: The model's name as the server knows it.
            base_url: Up to and with `/v1`.
            api_key: None for a server that wants none; the environment is not asked.
            batch_size: Texts a request, >= 1.

        Raises:
            UsageError: OpenAI's own endpoint without a key.
        """
        if api_key is None and _is_provider(base_url):
            raise UsageError("the openai encoder needs a key for api.openai.com; none was given")
        self._model = model
        self._batch_size = batch_size
        self._api_key = api_key
        self._client = _client(base_url, api_key or _NO_KEY)
        identity = json.dumps(["openai", base_url, model])
        self._sha256 = hashlib.sha256(identity.encode()).hexdigest()
        self._width: int | None = None

    @property
    def name(self) -> str:
        """The encoder and its model, "openai:MODEL"."""
        return f"openai:{self._model}"

    @property
    def width(self) -> int:
        """Components of a vector; asks the endpoint once when nothing was encoded yet."""
        return self._vectors(["width"]).shape[1] if self._width is None else self._width

    @property
    def sha256(self) -> str:
        """Fingerprint of endpoint and model name; a server's weights cannot be hashed."""
        return self._sha256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, (n, width); see `Encoder.encode`.

        Of each text the first MAX_CHARACTERS characters are sent. Blank texts are not sent, as
        the protocol forbids them; their rows are zero.
        """
        readable = [clean(text) for text in texts]
        known = [place for place, text in enumerate(readable) if text.strip("\0 \t\r\n")]
        parts = [
            self._vectors([readable[place] for place in known[first : first + self._batch_size]])
            for first in range(0, len(known), self._batch_size)
        ]
        rows = np.zeros((len(texts), self.width), dtype=np.float64)
        if parts:
            rows[known] = np.concatenate(parts)
        return unit_rows(rows)

    def _vectors(self, texts: list[str]) -> NDArray[np.float64]:
        """Send one request and check its answer, (n, width)."""
        vectors = _checked(self._answer(texts), len(texts))
        if self._width not in (None, vectors.shape[1]):
            raise EncoderError(
                f"{self.name} answered vectors of {vectors.shape[1]} components after such of "
                f"{self._width}"
            )
        self._width = vectors.shape[1]
        return vectors

    def _answer(self, texts: list[str]) -> object:
        """Send one request and return the decoded body.

        Floats are asked for by name, since the SDK's own default, base64, is not known to every
        server. The body is decoded here, since the SDK passes on whatever has status 200.
        """
        try:
            response = self._client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float"
            )
            return json.loads(response.content)
        except openai.OpenAIError as error:
            raise EncoderError(f"{self.name} failed: {self._excerpt(str(error))}") from None
        except ValueError:
            raise EncoderError(
                f"{self.name} answered no JSON: {self._excerpt(response.text)}"
            ) from None

    def _excerpt(self, message: str) -> str:
        """Return a message's beginning without the key, which some servers repeat."""
        masked = message.replace(self._api_key, "***") if self._api_key else message
        return masked[:_EXCERPT]


def _is_provider(base_url: str) -> bool:
    """Tell whether requests go to OpenAI itself."""
    return urlsplit(base_url).hostname == urlsplit(PROVIDER).hostname


def _client(base_url: str, api_key: str) -> openai.OpenAI:
    """Return a client that sends a foreign host nothing but what was given for it.

    The SDK adds organisation, project and headers from the user's environment to every request.
    They belong to the provider and may hold secrets, so only the provider gets them.
    """
    client = openai.OpenAI(
        api_key=api_key,
        base_url=base_url,
        timeout=TIMEOUT,
        default_headers={"Authorization": f"Bearer {api_key}"},
    )
    if not _is_provider(base_url):
        client.organization = client.project = None
        client._custom_headers = {}  # noqa: SLF001 - the SDK has no public way to drop them
    return client


def _checked(body: object, count: int) -> NDArray[np.float64]:
    """Return the vectors of an answer in the order of the texts, (count, width).

    Raises:
        EncoderError: The answer has not one finite vector of one width for each text.
    """
    entries = body.get("data") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise EncoderError(f"the embeddings endpoint answered without data: {body!r:.{_EXCERPT}}")
    places = [entry.get("index") for entry in entries]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise EncoderError(
            f"the embeddings endpoint answered {len(entries)} vectors for {count} texts, or "
            "numbered them wrongly"
        )
    ordered = [entries[places.index(place)].get("embedding") for place in range(count)]
    if not all(_is_vector(vector) for vector in ordered):
        raise EncoderError("the embeddings endpoint answered something that is not a vector")
    if len({len(vector) for vector in ordered}) != 1:
        raise EncoderError("the embeddings endpoint answered vectors of several widths")
    return np.array(ordered, dtype=np.float64)


def _is_vector(value: object) -> bool:
    """Tell whether a JSON value is a non-empty list of numbers with a finite length."""
    if not isinstance(value, list) or not value:
        return False
    if not all(type(part) in (int, float) for part in value):
        return False
    try:
        return math.isfinite(math.hypot(*value))
    except OverflowError:  # JSON has integers beyond any float
        return False
