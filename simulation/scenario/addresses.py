"""Which servers a scenario may name: a shared file must not steal a key or call a stranger."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN_HOSTS = {"anthropic": "api.anthropic.com", "openai": "api.openai.com"}

KEY_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

_PLACE = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::\d*)?")  # "[::1]evil.com" is no place
_PLAIN = re.compile(r"[!-~]+")  # printable ASCII without space


def address_problem(url: str, *, provider: str, allow_hosts: Sequence[str]) -> str | None:
    """Return why an address may not be used, or None.

    provider: name of the provider or encoder that would be asked there.
    allow_hosts: `HOST` or `HOST:PORT` as allowed on the command line.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return f"{quoted(url)} is not an address"
    problem = _malformed(url, parts, host)
    if problem is not None:
        return problem
    if is_loopback(host) or _is_allowed(host, port, allow_hosts):
        return None
    if host == OWN_HOSTS.get(provider):
        secure = parts.scheme == "https"
        return None if secure else "must begin with https://, or the key would travel in the open"
    return (
        f"the host {quoted(host)} is neither this machine nor the provider's own; "
        f"if you trust it, add --allow-host {quoted(host)[1:-1]}"
    )


def _malformed(url: str, parts: SplitResult, host: str) -> str | None:
    if parts.scheme not in {"http", "https"}:
        return f"must begin with http:// or https://, not {quoted(url)}"
    odd = not _PLAIN.fullmatch(url) or "\\" in url
    if not host or odd or not _PLACE.fullmatch(parts.netloc.rpartition("@")[2]):
        return f"{quoted(url)} is not an address such as http://localhost:8000/v1"
    if "@" in parts.netloc:
        return "must hold no user name or password; keys come from the environment"
    if parts.query or parts.fragment:
        return 'must hold no "?" or "#"; keys come from the environment'
    return None


def is_loopback(host: str) -> bool:
    """Return whether a host name is this machine: localhost, 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_allowed(host: str, port: int | None, allow_hosts: Sequence[str]) -> bool:
    names = {name.lower().rstrip(".") for name in allow_hosts}
    return host in names or (port is not None and f"{host}:{port}" in names)


def may_have_key(url: str, *, provider: str, key_for: Sequence[str]) -> bool:
    """Return whether a provider's key may be sent to an address.

    key_for: `HOST` or `HOST:PORT` as named by --key-for.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    own = host == OWN_HOSTS.get(provider) and parts.scheme == "https"
    return own or _is_allowed(host, parts.port, key_for)
