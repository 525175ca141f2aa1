"""Language models behind OpenAI-compatible endpoints, asked at their pace, and every answer kept.

Who comes in: complexity's prompted models and judge, KVQAE's prompted readers, commands. Read `asking.py` first.
"""
