"""People look at disputed predictions: which ones, with what beside them, and what follows.

`decisions` is the journal of what people said, `items` what there is to look at, `sample` who is
asked about what, `standing` what counts of it. `server` (a local page), `terminal` and `exchange`
(CSV) are three ways to give a decision.
"""
