"""What the rehearsals of the downloading chains share: a checkout at a scale, and what downloads leave."""

from pathlib import Path

from tests.end_to_end.conftest import ROOT, Project, copy_project
from trivium.commands.scale import rescale


def checkout(folder: Path, scale: str, sizes: Path, pins: str) -> Project:
    """The working tree at a scale, but for sizes; what is downloaded comes from the addresses of these pins."""
    made = copy_project(folder, ROOT / "scales" / f"{scale}.yaml")
    rescale(made.folder / "params.yaml", sizes)
    (made.folder / "trivium" / "sources" / "pins.yaml").write_text(pins)
    return made


def left_over(project: Project) -> list[Path]:
    """Files that downloads have left behind, but for their locks."""
    downloads = project.folder / ".work" / "downloads"
    return [path for path in downloads.rglob("*") if path.is_file() and path.suffix != ".lock"]
