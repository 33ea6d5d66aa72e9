"""What models a server has: the check that costs nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from simulation.providers.base import UnusableError
from simulation.providers.rejections import one_line
from simulation.spelling import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import httpx2

    from simulation.providers.rejections import Rejection
    from simulation.providers.spec import Place

_MOST: Final = 2_000  # names that are looked at
_SHOWN: Final = 4


class Inventory:
    """The models at one place."""

    def __init__(
        self,
        *,
        place: Place,
        model: str,
        path: str,
        get: Callable[[str], Awaitable[httpx2.Response]],
    ) -> None:
        """Keep how to ask; `path` is that of the list."""
        self._place = place
        self._model = model
        self._path = path
        self._get = get

    async def check(self) -> None:
        """Ask for the model at the provider's own host, elsewhere for the list.

        Raises:
            UnusableError: the list is there, and the model is not in it.
        """
        if self._place.own:
            await self._get(f"{self._path}/{quote(self._model, safe='')}")
            return
        entries, complete = await self._entries()
        if complete and not self._counts_as_known(entries):
            names = [entry["id"] for entry in entries]
            raise UnusableError(
                f'{self._place.host} has no model "{self._model:.60}"{self.instead(names)}'
            )

    def is_no_matter(self, rejection: Rejection) -> bool:
        """Return whether a server that turned the check away is in order all the same.

        Many have no list of models; that they answer is all that can be known for nothing.
        """
        return not self._place.own and rejection.kind in ("model", "request", "policy", "length")

    async def models(self) -> tuple[str, ...]:
        """Return the names a server lists; none where the list is odd or empty."""
        entries, _ = await self._entries()
        return tuple(entry["id"] for entry in entries)

    async def _entries(self) -> tuple[list[dict[str, Any]], bool]:
        """Return the entries of the list that have a name, and whether those are all."""
        data = _data((await self._get(self._path)).content)
        entries = data.get("data") if isinstance(data, dict) else None
        if not isinstance(entries, list):
            return [], False
        named = [e for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
        whole = len(named) == len(entries) <= _MOST and not data.get("has_more")
        return named[:_MOST], whole

    def _counts_as_known(self, entries: Sequence[dict[str, Any]]) -> bool:
        """Return whether a complete list speaks for the model, or at least not against it.

        llama.cpp lists its one model under the path of its file and answers to any name; it is
        told by `owned_by`. Any other single model on this machine counts as such a server too:
        should the name be wrong after all, the first call is refused, and costs nothing here.
        Ollama and vLLM know the names they list and no others; Ollama's `llama3` is
        `llama3:latest`. An empty list says nothing (LM Studio loads models when asked).
        """
        if len(entries) == 1 and (
            self._place.loopback or entries[0].get("owned_by") == "llamacpp"
        ):
            return True
        names = {entry["id"] for entry in entries}
        return not names or self._model in names or f"{self._model}:latest" in names

    def instead(self, models: Sequence[str]) -> str:
        """Return what there is in place of an unknown model, as the end of a sentence."""
        shown = [f"{one_line(name):.60}" for name in models]
        near = nearest(self._model, shown)
        if near is not None:
            return f'; did you mean "{near}"?'
        return f"; it has {listed(shown, most=_SHOWN)}" if shown else ""


def _data(content: bytes) -> Any:
    """Return the JSON in a body, or None."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
