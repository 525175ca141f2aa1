"""Language models behind OpenAI-compatible endpoints: rate-limited requests, and a cache of all answers.

Used by: complexity's prompted models and judge, KVQAE's prompted readers, commands. Read `asking.py` first.
"""
