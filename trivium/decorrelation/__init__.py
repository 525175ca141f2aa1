"""Does a retrieval model look at the image? Objects painted out, captions without them, models trained on such pairs.

Used by: `stages/decorrelation`. Read docs/decorrelation.md first, then `removals.py`.
"""
