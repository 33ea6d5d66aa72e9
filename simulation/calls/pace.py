"""The pace at one host: how many requests at a time, how many a minute, and when to hold still.

The number in flight adapts: it halves when the host says that it is too much, at most once for
what was in flight together, and grows by one for as many successes as it is large (additive
increase, multiplicative decrease: Chiu & Jain 1989). Requests per minute are a hard limit in any
minute.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

WINDOW: Final = 61.0
"""Seconds: a minute, and one more, as requests do not all take the same time to arrive."""


class Pace:
    """Places for requests at one host; all methods run on one event loop, first come first."""

    def __init__(self, *, concurrency: int, requests_per_minute: int | None) -> None:
        """Start at full speed.

        Args:
            concurrency: Most requests in flight, >= 1.
            requests_per_minute: Most in any minute, >= 1; None for no limit.
        """
        self.limit = concurrency
        self.slowed = False
        self._most = concurrency
        self._per_minute = requests_per_minute
        self._sent: deque[float] = deque()
        self._flying = 0
        self._successes = 0
        self._cut_at = -1.0
        self._closed_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    async def enter(self) -> None:
        """Wait for a place; each `enter` needs a `leave`."""
        if not self._waiting and self._delay() == 0.0:
            self._take()
            return
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        self._admit()
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self._flying -= 1
            self._admit()
            raise

    def leave(self, *, success: bool = False) -> None:
        """Give a place back."""
        self._flying -= 1
        if success and self.limit < self._most:
            self._successes += 1
            if self._successes >= self.limit:
                self.limit += 1
                self._successes = 0
        self._admit()

    def slow_down(self, *, sent_at: float, retry_after: float | None) -> None:
        """Heed that the host found a request too many.

        sent_at: time of the loop when it was sent: one sent before the last cut says nothing new.
        retry_after: seconds for which nobody sends anything.
        """
        now = asyncio.get_running_loop().time()
        if retry_after is not None:
            self._closed_until = max(self._closed_until, now + retry_after)
        if sent_at > self._cut_at:
            self._cut_at = now
            self._successes = 0
            self.slowed = True
            self.limit = max(1, self.limit // 2)

    def _take(self) -> None:
        self._flying += 1
        if self._per_minute is not None:
            self._sent.append(asyncio.get_running_loop().time())

    def _delay(self) -> float | None:
        """Return seconds until the next request may go; None: when one comes back."""
        if self._flying >= self.limit:
            return None
        now = asyncio.get_running_loop().time()
        while self._sent and self._sent[0] <= now - WINDOW:
            self._sent.popleft()
        opens = self._closed_until
        if self._per_minute is not None and len(self._sent) >= self._per_minute:
            opens = max(opens, self._sent[0] + WINDOW)
        return max(0.0, opens - now)

    def _admit(self) -> None:
        """Let in those who may enter, and set an alarm for the next."""
        while self._waiting:
            if self._waiting[0].done():  # cancelled while it waited
                self._waiting.popleft()
                continue
            delay = self._delay()
            if delay != 0.0:
                self._wake_after(delay)
                return
            self._take()
            self._waiting.popleft().set_result(None)

    def _wake_after(self, delay: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if delay is not None:
            self._alarm = asyncio.get_running_loop().call_later(delay, self._admit)
