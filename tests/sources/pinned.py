"""Sources of the project's pins, served on loopback: repositories and folders as they are, with other contents."""

from collections.abc import Mapping
from typing import Any

import yaml

from tests.sources.loopback import Loopback
from trivium.sources.pins import PINS


def serve_pinned(hub: Loopback, files: Mapping[str, Mapping[str, bytes]]) -> dict[str, Any]:
    """Serve the files of these sources; returns their pins: the project's but for addresses, digests and sizes."""
    pins = yaml.safe_load(PINS.read_text())
    served = {}
    for name, held in files.items():
        pin = pins[name]
        served[name] = pin | {"bytes": 1000}
        if "files" in pin:
            assert held.keys() == pin["files"].keys(), name
            served[name]["files"] = {file: {} for file in pin["files"]}
        if "hub" in pin:
            commit = (pin["revision"] or "a").ljust(40, "0")
            hub.repository(pin["hub"], held, kind=pin["kind"], commits=(commit,))
        else:
            served[name]["url"] = f"{hub.url}/{name}"
            hub.files |= {f"/{name}/{file}": data for file, data in held.items()}
    return served
