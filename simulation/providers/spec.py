"""Which model is asked, where, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from simulation.errors import UsageError
from simulation.scenario.addresses import KEY_VARIABLES, OWN_HOSTS, is_loopback

EFFORTS: Final = ("none", "minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """What a provider is built from.

    provider: `anthropic` or `openai`: whose protocol is spoken.  model: its name at the server.
    base_url: None for the provider's own host.  api_key: None where none may be sent; the
    environment is not asked.  structured: `auto`, or one way of asking for JSON and no other.
    effort: one of EFFORTS; None for the model's own.  stream: take answers piece by piece.
    timeout: seconds, > 0, for an answer; of a streamed one, for each piece.
    """

    provider: str
    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    structured: str = "auto"
    effort: str | None = None
    stream: bool = False
    timeout: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where requests go.

    url: up to the SDK's own paths.  shown: scheme, host and port, for messages.  host: host and
    port.  own: whether it is the provider's own host, which compiles each new schema.  loopback:
    whether it is this machine.  key_variable: environment variable of the provider's key.
    """

    url: str
    shown: str
    host: str
    own: bool
    loopback: bool
    key_variable: str


def place_of(spec: ProviderSpec, default_url: str) -> Place:
    """Return where a spec's requests go.

    Raises:
        UsageError: the address is none, the provider's own host has no key, or the key cannot
            travel in a header.
    """
    url = (spec.base_url or default_url).rstrip("/")
    parts = urlsplit(url)
    name = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not name:
        raise UsageError(f"{url!r:.200} is not an address such as http://localhost:8000/v1")
    host = parts.netloc.rpartition("@")[2].lower()
    place = Place(
        url=url,
        shown=f"{parts.scheme}://{host}",
        host=host,
        own=name == OWN_HOSTS[spec.provider],
        loopback=is_loopback(name),
        key_variable=KEY_VARIABLES[spec.provider],
    )
    _check_key(spec.api_key, place, spec.provider)
    return place


def _check_key(key: str | None, place: Place, provider: str) -> None:
    """Refuse a key that is missing or malformed, without saying it."""
    if key is None and place.own:
        raise UsageError(
            f"the {provider} provider needs a key for {place.host}; set the environment variable "
            f"{place.key_variable}"
        )
    if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(
            f"the key in {place.key_variable} is empty or holds spaces, line ends or letters "
            "beyond ASCII"
        )
