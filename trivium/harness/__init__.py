"""Running a stage: arguments, parameters, seeds, tracking, engine, resume.

Who comes in: every module of `stages/`, through `run_stage`. Read `stage.py` first.
"""
