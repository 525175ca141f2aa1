"""`python` of the project under test: stages are started by the warm server, all else by Python itself."""

import json
import os
import socket
import sys

if sys.argv[1:2] == ["-m"] and sys.argv[2].partition(".")[0] == "stages":
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ["TRIVIUM_WARM"])
        socket.send_fds(server, [b"\0"], [0, 1, 2])
        server.sendall(json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode() + b"\n")  # noqa: PTH109
        sys.exit(server.recv(1)[0])
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
