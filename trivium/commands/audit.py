"""Known vulnerabilities of the locked packages: uv asks OSV (osv.dev), which holds PyPA's advisories, once a lock."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from trivium.core.redaction import redacted
from trivium.decorrelation.painting.inpainter import WORKER

PATIENCE = 10  # seconds for each lock


class NotAuditedError(Exception):
    """The data cannot be had; the message says why."""


def audit(root: Path, uv: Path, patience: float = PATIENCE) -> tuple[int, list[str]]:
    """How many packages were asked about, and `name version: identifier` of each known vulnerability.

    Args:
        root: the project's folder, with `uv.lock`.
        uv: the program.
        patience: seconds for each lock.

    Raises:
        NotAuditedError: no network, another version of uv, no answer in time.
    """
    packages, known = 0, []
    for of in ([], ["--script", str(WORKER)]):
        report = _report([str(uv), "audit", "--frozen", "--output-format", "json", *of], root, patience)
        try:
            packages += report["summary"]["audited_packages"]
            found = [(each["dependency"], each["id"]) for each in report["vulnerabilities"]]
            known += [f"{package['name']} {package['version']}: {identifier}" for package, identifier in found]
        except (KeyError, TypeError):  # uv calls its report a preview
            raise NotAuditedError("this version of uv reports in another way") from None
    return packages, known


def _report(command: list[str], root: Path, patience: float) -> Any:
    environment = {**os.environ, "UV_HTTP_RETRIES": "0"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotAuditedError(f"no answer in {patience:g} s") from None
    except OSError as error:
        raise NotAuditedError(str(error)) from None
    try:
        return json.loads(done.stdout)
    except ValueError:
        lines = [line.strip() for line in done.stderr.splitlines() if line.lstrip().startswith(("error:", "cause:"))]
        reason = redacted(lines[-1]).partition(": ")[2] if lines else f"uv ended with {done.returncode}"
        raise NotAuditedError(reason) from None
