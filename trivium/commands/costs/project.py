"""What every stage of the graph costs, at given parameters."""

from trivium.commands.costs.complexity import complexity_costs
from trivium.commands.costs.decorrelation import decorrelation_costs
from trivium.commands.costs.kvqae import kvqae_costs
from trivium.commands.costs.row import Row
from trivium.commands.stage_models import Used


def stage_costs(used: Used, cores: int) -> dict[str, Row]:
    """Stage → what one cell of it costs on a machine of so many cores.

    Raises:
        BadInput: a `world.<source>` is none of the sources, or a parameter is nowhere.
    """
    page = {name: Row(memory=1) for name in ("code", "headline", "report")}
    return kvqae_costs(used, cores) | decorrelation_costs(used) | complexity_costs(used) | page
