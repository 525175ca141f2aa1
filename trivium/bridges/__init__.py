"""What joins two papers: decorrelated encoders in KVQAE, and factors of visual questions.

Used by: two stages, `decorrelation-entities` and `kvqae-difficulty`. Read `decorrelated_encoders.py` first.
"""
