"""The mathematics of a persona: pure functions over arrays with a leading persona axis.

No module here does I/O, reads a clock, draws at random or imports another; each names the paper
and the section that it computes.
"""
