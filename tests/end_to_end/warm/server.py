"""Starts stages warm: the libraries that nearly all of them import are loaded once, and each stage is a fork.

It holds none of the project's modules: a stage imports these itself, as it does under `python -m`. The argument is the
socket to listen at; `client.py` is what DVC finds in place of Python.
"""

import gc
import json
import os
import runpy
import socket
import sys
from importlib import import_module

LIBRARIES = (
    "scipy.stats",
    "pandas",
    "torchvision",
    "transformers.modeling_utils",
    "transformers.models.bert.modeling_bert",
)


def main(address: str) -> None:
    """Serve one stage after another until the process is ended; a fork runs its stage and returns."""
    for library in LIBRARIES:
        import_module(library)
    gc.collect()
    gc.freeze()  # a fork that looked through all of this would copy it
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        while True:
            client, _ = server.accept()
            _, streams, _, _ = socket.recv_fds(client, 1, 3)
            with client, client.makefile() as told:
                arguments, folder, environment = json.loads(told.readline())
                child = os.fork()
                if not child:
                    for number, stream in enumerate(streams):
                        os.dup2(stream, number)
                    os.chdir(folder)
                    os.environ.clear()
                    os.environ.update(environment)
                    sys.path[0], sys.argv = folder, ["-m", *arguments[1:]]
                    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
                    return
                for stream in streams:
                    os.close(stream)
                client.sendall(bytes([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255]))


if __name__ == "__main__":
    main(sys.argv[1])
