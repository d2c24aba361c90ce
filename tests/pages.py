"""The pages that people read, and the blocks in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Paths from the repository's folder.
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for folder in ("", "docs/**/")
    for page in ROOT.glob(f"{folder}*.md")
    if "_build" not in page.relative_to(ROOT).parts
)


def blocks(name, language):
    """The fenced blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
