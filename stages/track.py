"""Stage `track`, the last of the graph: log the run of the graph to MLflow.

MLflow's run gets the parameters that differ from the commit, the headline, what `dvc plots diff` draws, and the page.
The stage has no output, so that DVC runs it whenever metrics, parameters or code have changed. It never fails.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from trivium.core.errors import redact
from trivium.core.parameters import flatten, read_parameters
from trivium.core.tables import read_json
from trivium.core.tracking import connect, git, log_values, open_run

PARAMETERS, HEADLINE, PAGE = Path("params.yaml"), Path("metrics/headline.json"), Path("metrics/report")


def changed_parameters(commit: str) -> dict[str, Any]:
    """{dotted key: value} of the parameters that differ from a commit's; None for those that only the commit has."""
    before = dict(flatten(yaml.safe_load(git("show", f"{commit}:{PARAMETERS}")) or {}))
    now = dict(flatten(read_parameters(PARAMETERS)))
    return {key: now.get(key) for key in now | before if now.get(key) != before.get(key) or key not in before}


def main() -> None:
    """Log the run, and end it and those of its children that were killed."""
    if not (read_parameters(PARAMETERS).get("run") or {}).get("mlflow"):
        return
    try:
        with connect() as client:
            run = client.get_run(open_run(client))
        commit = run.data.tags["git.baseline"]
        headline = read_json(HEADLINE).items() if HEADLINE.exists() else ()
        points = [(name, value, int(time.time() * 1000), 0) for name, value in headline]
        log_values(client, run.info.run_id, changed_parameters(commit), points)
        for page in sorted(PAGE.glob("*.html")):
            client.log_artifact(run.info.run_id, str(page), "page")
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "dvc", "plots", "diff", "-q", commit, "-o", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            client.log_artifacts(run.info.run_id, folder, "figures")
        for child in client.search_runs([run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"):
            if child.info.status == "RUNNING":
                client.set_terminated(child.info.run_id, "KILLED")
        client.set_terminated(run.info.run_id, "FINISHED")
    except Exception as error:  # MLflow's, its database's, its server's, DVC's
        print(redact(f"tracking: this run is not all logged: {error}"), file=sys.stderr)


if __name__ == "__main__":
    main()
