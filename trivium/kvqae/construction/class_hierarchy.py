"""Wikidata's class hierarchy, `subclass of` (P279), upwards from the classes asked for (kvqae.md §2, step 3).

People edit the hierarchy, so it has circles ("subclass of" itself by a detour): a class is visited once, and the
circles that were met are counted.
"""

from collections.abc import Callable, Iterable

import numpy as np


class ClassHierarchy:
    """Ancestors of classes.

    Args:
        superclasses: direct superclasses of a class, none for a class that is not known; asked once a class.
    """

    def __init__(self, superclasses: Callable[[str], Iterable[str]]) -> None:
        self._superclasses = superclasses
        self._above: dict[str, tuple[str, ...]] = {}

    def ancestors(self, item: str) -> set[str]:
        """The class itself and all classes that it is directly or indirectly a subclass of."""
        found, pending = {item}, [item]
        while pending:
            current = pending.pop()
            if current not in self._above:
                self._above[current] = tuple(self._superclasses(current))
            for above in self._above[current]:
                if above not in found:
                    found.add(above)
                    pending.append(above)
        return found

    def circular(self) -> int:
        """How many of the classes visited so far are, directly or by a detour, subclasses of themselves."""
        from scipy.sparse import coo_array  # its import takes a fifth of a second
        from scipy.sparse.csgraph import connected_components

        number = {item: index for index, item in enumerate(self._above)}
        edges = [(number[item], number[above]) for item, several in self._above.items() for above in several]
        if not edges:
            return 0
        lower, upper = np.array(edges).T
        graph = coo_array((np.ones(len(edges)), (lower, upper)), shape=(len(number), len(number)))
        _, component = connected_components(graph, directed=True, connection="strong")
        on_a_circle = np.bincount(component)[component] > 1
        on_a_circle[lower[lower == upper]] = True
        return int(on_a_circle.sum())
