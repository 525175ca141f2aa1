"""`make kill N=1000 SEED=0`: kill, finish, compare. Rounds that are done are not done again; a seed replays its round.

A round that is in the file of progress is replayed as it was planned: with as many kills, and with a disk or without.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.kill.campaign import Campaign, Outcome
from tests.kill.disk import Disk
from tests.kill.plan import Plan, draw
from tests.kill.progress import append_progress, describe, read_progress, summarise
from tests.kill.project import ROOT, Project, make_project
from tests.small_disk import NAMESPACE, why_not

LINGERING = ("kvqae-world", "kvqae-encode", "complexity-finetune", "complexity-answer@minilm", "headline")
LIMITS = {"five": 1800.0, "tiny": 7200.0}  # seconds a run may take, on a machine that has much else to do
PER_ROUND = {"five": 2, "tiny": 25}


def say(line: str) -> None:
    """Print at once: a campaign takes hours."""
    print(line, flush=True)


def planned(seed: int, given: argparse.Namespace) -> Plan:
    """The round of a seed; the tiny graph's stages cannot linger, and it is too long to build it for one push."""
    five = given.project == "five"
    return draw(seed, given.per_round, stages=LINGERING if five else (), remotes=five, full=given.disk)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 where a kill left a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description=__doc__)
    parser.add_argument("--project", choices=list(LIMITS), default="five", help="what is killed (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=12, help="at least so many that hit (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first round; the next has the next number")
    parser.add_argument("--per-round", type=int, help=f"kills before a run is finished (default: {PER_ROUND})")
    parser.add_argument("--progress", type=Path, help="rounds done (default: .work/kill/PROJECT.jsonl)")
    parser.add_argument("--replay", type=int, metavar="SEED", help="play one round, whether it is done or not")
    parser.add_argument("--disk", action="store_true", help=argparse.SUPPRESS)  # set inside the namespace
    arguments = sys.argv[1:] if argv is None else list(argv)
    given = parser.parse_args(arguments)
    given.per_round = given.per_round or PER_ROUND[given.project]
    given.progress = given.progress or ROOT / ".work" / "kill" / f"{given.project}.jsonl"
    played = None if given.replay is None else read_progress(given.progress).get(given.replay)
    if played:
        given.per_round = played.per_round or given.per_round
    if given.project == "five" and not given.disk and not (played and played.disk is False):
        with tempfile.TemporaryDirectory() as probe:
            reason = why_not(Path(probe))
        if reason is None:
            command = [*NAMESPACE, sys.executable, "-m", "tests.kill", *arguments, "--disk"]
            return subprocess.run(command, cwd=ROOT).returncode
        if played and played.disk:
            parser.error(f"round {given.replay} had a disk to fill, and none can be mounted here ({reason})")
        say(f"no disk is filled: none can be mounted here ({reason})")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would pass SIGINT's neglect on
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="kill-") as base:
        return run(given, Path(base))


def run(given: argparse.Namespace, base: Path) -> int:
    """The campaign, in a folder of its own."""
    disk = Disk(base) if given.disk else None
    if disk:
        disk.mount()
    template = make_project(given.project, base / "template").folder
    campaign = Campaign(Project(base / "project"), template, disk, LIMITS[given.project])
    say(f"{given.project}: {given.kills} kills, {given.per_round} a round, rounds from seed {given.seed}")
    try:
        reference = campaign.refer()
        say(f"{len(reference.files)} files in {len(reference.cached)} cached outputs, {campaign.seconds:.0f} s a run")
        say(f"not the same in two undisturbed runs: {', '.join(sorted(reference.varying)) or 'nothing'}")
        outcomes = go_on(campaign, given) if given.replay is None else replay(campaign, given)
    finally:
        campaign.end()
        if disk:
            disk.unmount()
    say("\n".join([summarise(outcomes)]))
    return int(any(outcome.faults for outcome in outcomes))


def replay(campaign: Campaign, given: argparse.Namespace) -> list[Outcome]:
    """Play one round, and print what its commands said."""
    outcome = campaign.play(planned(given.replay, given))
    say(f"{campaign.project.log.read_text(errors='replace')}\n{describe(outcome)}")
    return [outcome]


def go_on(campaign: Campaign, given: argparse.Namespace) -> list[Outcome]:
    """Play rounds, those of the file of progress not again, until there are kills enough."""
    done, outcomes = read_progress(given.progress), list[Outcome]()
    while sum(outcome.hits for outcome in outcomes) < given.kills:
        seed = given.seed + len(outcomes)
        if seed not in done:
            done[seed] = campaign.play(planned(seed, given))
            append_progress(given.progress, done[seed], commit())
            say(describe(done[seed]))
            if done[seed].faults:
                keep(campaign, given, seed)
        outcomes.append(done[seed])
    return outcomes


def keep(campaign: Campaign, given: argparse.Namespace, seed: int) -> None:
    """What a round with faults has left, to be looked at."""
    folder = given.progress.with_suffix("") / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(campaign.project.folder, folder / "project", symlinks=True)
    shutil.copy(campaign.project.log, folder)
    again = f"--project {given.project} --progress {given.progress} --replay {seed}"
    say(f"  kept in {folder}; again: python -m tests.kill {again}")


def commit() -> str:
    """Of the code that is killed; with + where it has been edited."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
