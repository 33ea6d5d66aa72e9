"""Studies `attachment` and `attachment-factorial`: who is it, by what it recalls? PersMem, E.2.

`protocol` holds what was fixed before the test split was measured, and `choosing` how it was
chosen on the development split. `traces` lets the four profiles recall, `features` is what a
`classifier` sees of it, `controls` recall without the mechanism; a `bench` fits on development and
measures on the test split, `scoring` says how sure that is. `heldout` and `factorial` (E.3, E.4)
are the two studies, `annotators` the labels of the second.
"""
