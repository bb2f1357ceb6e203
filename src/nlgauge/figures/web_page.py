"""Self-contained web pages without scripts, from a template with a style and content."""

from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


def fill_page(template: str, *, heading: str, **parts: str) -> str:
    """Fill a template of this folder; all parts must be escaped already."""
    text = (_FOLDER / template).read_text("utf-8")
    filled = Template(text).substitute(parts, heading=heading)
    style, _, content = filled.removeprefix("<style>\n").partition("\n</style>\n")
    page = Template((_FOLDER / "web_page.html").read_text("utf-8"))
    return page.substitute(heading=heading, style=style, content=content.rstrip("\n")).rstrip("\n")
