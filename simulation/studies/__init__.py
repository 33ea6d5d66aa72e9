"""Experiments of the sources, each a function that returns tables and can be repeated."""
