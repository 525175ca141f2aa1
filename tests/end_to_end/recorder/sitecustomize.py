"""Python runs this at its start where the folder is on its path: what a stage executes and opens of the project's code.

A line `stage TAB path` is appended to the file that TRIVIUM_RECORD names, at once, so that killed processes count, too.
Stages may be forked from a process that is at no stage itself and has none of the project's modules.
"""

import os
import sys

RECORD = os.environ.get("TRIVIUM_RECORD")

if RECORD:
    root = os.environ.get("DVC_ROOT", os.getcwd()) + os.sep  # noqa: PTH109 - before anything is imported
    code = tuple(f"{root}{package}{os.sep}" for package in ("stages", "trivium", "sample"))
    seen = set()

    def note(event, arguments):
        """Modules are executed; other files are opened."""
        if event == "exec":
            path = getattr(arguments[0], "co_filename", "")
        elif event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith((".py", ".pyc")):
            path = os.path.abspath(arguments[0])  # noqa: PTH100 - before anything is imported
        else:
            return
        if path.startswith(code) and path not in seen and (stage := os.environ.get("DVC_STAGE")):
            seen.add(path)
            line = f"{stage.rpartition('dvc.yaml:')[2]}\t{path.removeprefix(root)}\n".encode()
            handle = os.open(RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, line)
            os.close(handle)

    sys.addaudithook(note)
