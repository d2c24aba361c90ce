"""The README as package indexes show it: the build backend calls this ([[tool.dynamic-metadata]]).

An index has the README alone. Its links to files of the repository become absolute ones below the URL
`Source` of pyproject.toml's [project.urls]. While there is none, texts stay and pictures are left out.
"""

import re
from pathlib import Path

RELATIVE = r"\((?![a-z]+:|#)([^)]+)\)"


def for_an_index(text, source, version):
    """Markdown whose links are absolute; source is a URL as GitHub has them, or None."""
    pictures = links = ""
    if source is not None:
        pictures = rf"![\1]({source}/raw/v{version}/\2)"
        links = rf"[\1]({source}/blob/v{version}/\2)"
    text = re.sub(r"!\[([^]]*)\]" + RELATIVE + ("" if pictures else r"\n*"), pictures, text)
    return re.sub(r"(?<!!)\[([^]]+)\]" + RELATIVE, links or r"\1", text)


def dynamic_metadata(settings, project):
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    text = for_an_index(text, project.get("urls", {}).get("Source"), project["version"])
    return {"readme": {"content-type": "text/markdown", "text": text}}
