"""The kinds of readers, a module each of the kind's name; `readers/interface.py` finds them by listing this folder."""
