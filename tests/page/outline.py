"""A page's HTML as tests look at it."""

from html.parser import HTMLParser

from trivium.page.contents import ARTICLES

PAGES = {"index.html", "reproduction.html", *(f"{pipeline}.html" for pipeline in ARTICLES)}


class Outline(HTMLParser):
    """Rows of tables as lists of texts, the tags that are open, and elements by tag."""

    VOID = frozenset({"meta", "link", "img", "br", "input", "path", "use", "rect"})

    def __init__(self, html):
        super().__init__()
        self.rows, self.tags, self.open, self.row = [], [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.row = []
        elif tag in ("td", "th") and self.row is not None:
            self.row.append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.rows.append([" ".join(cell.split()) for cell in self.row])
            self.row = None

    def handle_data(self, text):
        if self.row:
            self.row[-1] += text
