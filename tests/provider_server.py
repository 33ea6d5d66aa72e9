"""A loopback server that does with a connection whatever a test says."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = bytes | float | Literal["reset"]
    """Bytes to send, seconds to wait, or a connection reset."""


_HANDSHAKE = b"\x16"  # how TLS begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


def answer(
    body: object = None, *, status: int = 200, headers: dict[str, str] | None = None
) -> list[Step]:
    """Return the steps of a whole answer; a body that is no text or bytes goes out as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(content))}
    return [_head(status, lines | (headers or {})) + content]


def failing(status: int, message: str = "", **error: object) -> list[Step]:
    """Return the steps of an error in the shape that both protocols use."""
    return answer({"type": "error", "error": {"message": message, **error}}, status=status)


def stream(*parts: object) -> list[Step]:
    """Return the steps of a stream: dictionaries are events; bytes, waits, resets as they are."""
    head = _head(200, {"content-type": "text/event-stream; charset=utf-8", "connection": "close"})
    return [head, *(_event(part) if isinstance(part, dict) else part for part in parts)]  # type: ignore[list-item] # steps


def _event(data: dict[str, Any]) -> bytes:
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


@dataclass
class Server:
    """What it saw, and how it answers."""

    reply: Callable[[Seen], list[Step]]
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    """Of each answer that was cut short by the client, the steps that were done."""

    def cut_off(self, within: float = 30.0) -> bool:
        """Return whether a client cut an answer short; the server may learn of it late."""
        until = time.monotonic() + within
        while not self.ended and time.monotonic() < until:
            time.sleep(0.01)
        return bool(self.ended)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of requests, in order."""
        return [seen.body for seen in self.seen]


@contextmanager
def serving(reply: Callable[[Seen], list[Step]] | list[Step]) -> Iterator[Server]:
    """Run a server in a thread; it has ended when the block has."""
    server = Server(reply=reply if callable(reply) else lambda _: reply)
    loop = asyncio.new_event_loop()
    ready, stop = threading.Event(), asyncio.Event()

    async def run() -> None:
        running = await asyncio.start_server(
            lambda reader, writer: _handle(server, reader, writer), "127.0.0.1", 0, backlog=2048
        )
        server.url = f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
        ready.set()
        await stop.wait()
        running.close()
        handling = asyncio.all_tasks() - {asyncio.current_task()}
        for task in handling:
            task.cancel()
        await asyncio.gather(*handling, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were aborted close in the loop's next round

    thread = threading.Thread(target=lambda: asyncio.Runner(loop_factory=lambda: loop).run(run()))
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _handle(
    server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the requests of one connection."""
    try:
        while (seen := await _read(reader)) is not None:
            server.seen.append(seen)
            if not await _play(server.reply(seen), writer, server):
                break
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    except asyncio.CancelledError:
        writer.transport.abort()
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readexactly(1)
    if head == _HANDSHAKE:
        raise ConnectionError("this server speaks no TLS")
    head += await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): text.strip() for name, _, text in (x.partition(":") for x in lines)}
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path, _ = first.split(" ")
    return Seen(
        method=method, path=path, headers=headers, body=json.loads(content) if content else None
    )


async def _play(steps: list[Step], writer: asyncio.StreamWriter, server: Server) -> bool:
    """Do the steps; return whether another request may follow."""
    for done, step in enumerate(steps):
        if isinstance(step, float):
            await asyncio.sleep(step)
        elif isinstance(step, bytes):
            writer.write(step)
            try:
                await writer.drain()
            except ConnectionError:
                server.ended.append(done)
                raise
        else:
            linger = struct.pack("ii", 1, 0)  # closing then resets the connection
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return False
    return b"content-length" in next((step for step in steps if isinstance(step, bytes)), b"")
