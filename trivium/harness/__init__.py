"""Running a stage: arguments, parameters, seeds, tracking, resume, errors and the digests of code."""
