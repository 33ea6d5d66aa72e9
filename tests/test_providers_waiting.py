"""How long a provider asks to wait."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.providers.waiting import wait_asked

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
DATE = format_datetime(NOW, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"x-ratelimit-reset-requests": "1m30s"}, 90.0),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "9",
            },
            1.0,
        ),
        ({"x-ratelimit-reset": str(NOW.timestamp() + 5)}, 5.0),
        ({"x-ratelimit-reset": str((NOW.timestamp() + 5) * 1000)}, 5.0),
        ({"x-ratelimit-reset": "7"}, 7.0),
    ],
)
def test_every_usual_header_is_understood(headers: dict[str, str], wait: float | None) -> None:
    assert wait_asked({"date": DATE} | headers) == wait


def test_without_a_date_of_the_server_the_own_clock_counts() -> None:
    assert wait_asked({"retry-after": "Mon, 30 Nov 1990 12:00:30 GMT"}) == 0.0


@given(st.text(), st.text())
def test_no_text_is_too_odd(first: str, second: str) -> None:
    names = "retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens"
    for name in names:
        wait = wait_asked({name: first, "date": second})
        assert wait is None or wait >= 0.0
