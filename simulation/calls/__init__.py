"""Calls to language models: at once, in order, within limits, and all of them recorded."""
