"""What is true of the entities: answers drawn from pools that they share."""

from collections.abc import Sequence

from sample.kvqae.bank import PERSONS, relations_of
from sample.kvqae.entities import Entity
from sample.kvqae.pools import Pools, Value, person

# How often an entity has a relation: of its own kind, or one that all persons share.
_OWN, _COMMON = 0.54, 0.15


def tell_facts(entities: Sequence[Entity], pools: Pools) -> None:
    """Draw the facts of every entity; no answer twice, none is its own name."""
    _succession(entities)
    for entity in entities:
        _tell(entity, pools)


def _succession(entities: Sequence[Entity]) -> None:
    """A prime minister is followed by the next one of the country, in the order of birth."""
    heads = sorted(
        (entity for entity in entities if entity.kind.name == "prime minister"), key=lambda entity: entity.start
    )
    for position, head in enumerate(heads):
        following = next((later for later in heads[position + 1 :] if later.country == head.country), None)
        if following is not None:
            head.facts["successor"] = Value(following.name, following.aliases)


def _tell(entity: Entity, pools: Pools) -> None:
    possible = [relation for relation in relations_of(entity.kind.name) if relation.pool != "successor"]
    shares = [_COMMON if len(relation.kinds) == len(PERSONS) else _OWN for relation in possible]
    chosen = [relation for relation, share in zip(possible, shares, strict=True) if pools.rng.random() < share]
    for relation in chosen or possible[:1]:
        if relation.pool == "spouse":
            value = person(pools, entity.country, "male" if entity.gender == "female" else "female")
            pools.add("spouse", entity.country, value)
        else:
            taken = [entity.name, *(fact.text for fact in entity.facts.values())]
            value = pools.draw(relation.pool, entity.country, but=taken)
        entity.facts[relation.name] = value
