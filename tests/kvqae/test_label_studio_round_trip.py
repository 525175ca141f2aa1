"""A real Label Studio: it takes the interface and the tasks, people annotate, and its export says what they decided."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from stages.kvqae.annotation_tasks import AnnotationTasksParameters
from stages.kvqae.annotation_tasks import main as make_tasks
from tests.kvqae.annotated_world import annotation, record, write_export, write_generated, write_pictures
from trivium.core.tables import read_json
from trivium.decorrelation.painting.inpainter import find_uv
from trivium.kvqae.annotation.project import Annotation, read_annotations
from trivium.kvqae.construction.generation import read_generated

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).with_name("label_studio_server.py")
PASSWORD = "for-a-test-on-loopback"
HOSTILE = "Who \"is\" <b>this</b> man & his 'friend'? ]]> {{x}} $answer"
STARTING = 300  # seconds; the first start makes the database


class Person:
    """Somebody with an account, who uses the API as the labelling page does."""

    def __init__(self, address: str, email: str, page: str) -> None:
        self.client = httpx.Client(base_url=address, follow_redirects=True, timeout=120)
        self.client.get(page)
        form = {"email": email, "password": PASSWORD, "csrfmiddlewaretoken": self.client.cookies["csrftoken"]}
        self.client.post(page, data=form, headers={"Referer": address}).raise_for_status()
        self.email = email

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """JSON in, JSON out."""
        headers = {"X-CSRFToken": self.client.cookies.get("csrftoken", ""), "Referer": str(self.client.base_url)}
        answer = self.client.request(method, path, json=content, headers=headers)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a fresh Label Studio on loopback."""
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not there: Label Studio has an environment of its own, which uv makes")
    locked = ["--quiet", "--frozen", "--python", sys.executable, "--script", str(SCRIPT)]
    made = subprocess.run([uv, "sync", *locked], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no environment for Label Studio; the package index is out of reach? {made.stderr.strip()[-300:]}")
    folder = tmp_path_factory.mktemp("label_studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    arguments = ["start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    arguments += ["--data-dir", str(folder), "--username", "first@example.org", "--password", PASSWORD]
    environment = os.environ | {"COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "DJANGO_DB": "sqlite"}
    environment |= {"LABEL_STUDIO_HOST": address, "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": ""}
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [uv, "run", *locked, *arguments],
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(address, process, folder / "log.txt")
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(STARTING):
        assert process.poll() is None, f"Label Studio ended: {log.read_text('utf-8', 'replace')[-2000:]}"
        try:
            if httpx.get(f"{address}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(1)
    raise AssertionError(f"Label Studio did not start: {log.read_text('utf-8', 'replace')[-2000:]}")


@pytest.fixture(scope="module")
def first(server: str) -> Person:
    """Who owns the projects."""
    return Person(server, "first@example.org", "/user/login/")


def make_project(root: Path, first: Person, records: list[dict[str, Any]]) -> tuple[int, dict[str, int]]:
    """Import what the stage writes; returns the project's number, and the tasks' by question."""
    write_generated(root / "generated.jsonl", records)
    images, references = write_pictures(root, records)
    parameters = AnnotationTasksParameters(
        questions=9, largest_share=1, annotators=3, overlap_questions=9, overlap_annotators=3,
        image_side=160, image_address=None, seed=0,
    )  # fmt: skip
    arguments = {"generated": root / "generated.jsonl", "images": images, "references": references}
    make_tasks(parameters, **arguments, out=root / "project")
    config = (root / "project" / "config.xml").read_text("utf-8")
    instructions = (root / "project" / "instructions.md").read_text("utf-8")
    project = first.call(
        "POST", "/api/projects", {"title": "Trivium", "label_config": config, "expert_instruction": instructions}
    )["id"]
    first.call("POST", f"/api/projects/{project}/import", read_json(root / "project" / "tasks.json"))
    tasks = first.call("GET", f"/api/tasks?project={project}&fields=all")["tasks"]
    return project, {task["data"]["id"]: task["id"] for task in tasks}


def export(root: Path, first: Person, project: int) -> tuple[dict[str, list[Annotation]], dict[str, int]]:
    """Export as people do, and read it."""
    tasks = first.call("GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true")
    questions = read_generated(root / "generated.jsonl")
    return read_annotations(write_export(root / "export.json", tasks), questions)


def test_what_three_people_decide_comes_back(tmp_path: Path, server: str, first: Person) -> None:
    invitation = first.call("GET", "/api/invite")["invite_url"]
    people = [first, *(Person(server, f"{name}@example.org", invitation) for name in ("second", "third"))]
    records = [record(0, input=HOSTILE, other_mentions=[HOSTILE]), record(2), record(5), record(6)]
    records[1]["images"] = ['a "quoted" <name> & more.jpg', "b.jpg"]
    project, tasks = make_project(tmp_path, first, records)
    a, b, c, _ = records
    plan = {
        a["id"]: [("keep", "Edited “freely” <i>&amp;</i>\nhere", 2), ("overspecified", "", 0), ("keep", HOSTILE, 0)],
        b["id"]: [("without a relevant image", "", 0), ("keep", "Where, then?", 0), ("otherwise unfit", "", 0)],
        c["id"]: [("keep", c["input"], 1)],
    }
    for made in records[:3]:
        for person, (decision, text, place) in zip(people, plan[made["id"]], strict=False):
            controls = {"question": text, "image": made["images"][place]} if decision == "keep" else {}
            content = {"result": annotation(0, decision=decision, **controls)["result"]}
            person.call("POST", f"/api/tasks/{tasks[made['id']]}/annotations/", content)
    skipped = {"result": [], "was_cancelled": True}
    people[1].call("POST", f"/api/tasks/{tasks[c['id']]}/annotations/", skipped)

    annotations, counts = export(tmp_path, first, project)
    assert counts == {"tasks": 4, "annotations": 7, "cancelled_annotations": 1, "unannotated_tasks": 1}
    for made in records[:3]:
        back = annotations[made["id"]]
        assert len({each.annotator for each in back}) == len(back)
        for each, (decision, text, place) in zip(back, plan[made["id"]], strict=True):
            if decision == "keep":
                assert (each.discarded, each.text, each.image) == (None, " ".join(text.split()), made["images"][place])
            else:
                assert (each.discarded, each.text, each.image) == (decision, None, None)
