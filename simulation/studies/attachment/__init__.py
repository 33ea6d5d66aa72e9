"""Studies `attachment` and `attachment-factorial`: who is it, by what it recalls? (PersMem E.2-E.4).

`protocol` holds what was fixed before the test split was measured, and `choosing` how it was
chosen on the development split. `traces` lets the four profiles recall, `features` is what a
`classifier` sees of it, `controls` recall without the mechanism, `scoring` judges. `heldout` and
`factorial` are the two studies.
"""
