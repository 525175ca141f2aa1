"""`python -m stages kvqae.fuse …` runs a stage; its `--help` lists the options."""

from argparse import REMAINDER, ArgumentParser
from importlib import import_module
from pathlib import Path

from trivium.core.stage import run_stage

if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m stages", description="Run a stage of dvc.yaml.")
    names = sorted(f"{file.parent.name}.{file.stem}" for file in Path(__file__).parent.glob("*/*.py"))
    parser.add_argument("stage", choices=names, metavar="STAGE", help="such as kvqae.fuse")
    parser.add_argument("options", nargs=REMAINDER, help="of the stage; --help lists them")
    chosen = parser.parse_args()
    run_stage(import_module(f"stages.{chosen.stage}").main, chosen.options)
