"""Calls to language models: at once, in order, within limits, and all of them recorded.

A `Call` (base) goes to an `Asker`, the `Line` to one model (line) of the run's `Switchboard`
(switchboard). Workers take calls in order (batch); a `Conversation` renders the prompt, finds the
answer among the recorded ones (recorded) or sends it through an `Exchange`, reads it, has it
repaired once, and records it (record). The exchange reserves the most that a try may cost (budget,
prices), waits for a place at the host (pace), and tries again after a while (backoff).
"""
