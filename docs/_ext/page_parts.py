"""What every page of the site has, whoever wrote it.

A description for search engines; pictures that link to themselves, and charts inline, as the drawing for
a desk and the one for a phone; code that is set smaller where its lines are long; names in tables that
break after their dots on a phone; the header's groups; texts for the search, as browsers do not fetch
pages from files. What a page lacks is a warning of the build.
"""

import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

PICTURES = Path(__file__).parent.parent / "_build/pictures"
LOG = logging.getLogger(__name__)

# Columns of code that an article of a desk holds, and those of its smaller size; see _static/site.css.
COLUMNS, MOST_COLUMNS = 104, 120


def description(doctree):
    """A page's first paragraph, cut after a sentence or a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 40 and isinstance(paragraph.parent, nodes.section):
            break
    else:
        text = ""
    if len(text) <= 200:
        return text.rstrip(":")
    end = text.rfind(". ", 60, 200)
    return text[: end + 1] if end > 0 else text[: text.rfind(" ", 0, 200)] + " ..."


def mark_code(app, doctree):
    """Included files have their own language, long lines a class."""
    for block in doctree.findall(nodes.literal_block):
        if str(block.get("source", "")).endswith(".py"):
            block.setdefault("language", "python")
        width = max(map(len, block.astext().splitlines()), default=0)
        if width > COLUMNS:
            block["classes"].append("wide-code")
        if width > MOST_COLUMNS and not is_shell(block):
            LOG.warning("code of %d columns is cut on a desk", width, location=block)


def is_shell(block):
    """Commands in a shell are pasted whole; a page may leave their lines long."""
    return block.get("language") in ("sh", "bash", "console")


def drawing(file):
    """An SVG file's elements without the style of their own."""
    return re.sub(r"<style>.*?</style>\n", "", file.read_text(), flags=re.S)


def shown_picture(match):
    """An image as a link to itself; a chart's two drawings instead of the image."""
    image, source = match[0], match[1]
    name = Path(source).stem
    if (PICTURES / f"{name}-narrow.svg").exists() and source.endswith(".svg"):
        image = "".join(
            f'<span class="chart {kind}">{drawing(PICTURES / f"{name}{ending}.svg")}</span>'
            for kind, ending in (("on-desk", ""), ("on-phone", "-narrow"))
        )
    return f'<a class="picture" href="{source}" title="the picture by itself">{image}</a>'


def with_breaks(cell):
    """A table's cell whose names may break after dots, slashes and underscores; site.css says when."""
    return re.sub(
        r'(<span class="pre">)([^<]*)',
        lambda span: span[1] + re.sub(r"(::|[./_(=,])(?=\w)", r"\1<wbr/>", span[2]),
        cell[0],
    )


def grouped(app, pagename):
    """(caption, first page, whether this page is in it) of each group of the root page's toctrees."""
    root = app.env.get_doctree(app.config.root_doc)
    groups = []
    for tree in root.findall(addnodes.toctree):
        pages = [page for _, page in tree["entries"]]
        groups.append((tree["caption"], pages[0], pagename in pages))
    return groups


def complete_page(app, pagename, templatename, context, doctree):
    context["groups"] = grouped(app, pagename)
    context["parents"] = [
        {"title": caption, "link": ""}
        for caption, _, current in context["groups"]
        if current and caption != context["title"]
    ]
    text = description(doctree) if doctree else f"{context.get('title', '')}: dmlcpu's site."
    if 'name="description"' not in context.get("metatags", ""):
        context["metatags"] = (
            context.get("metatags", "")
            + f'<meta name="description" content="{escape(text, quote=True)}" />\n'
        )
    body = context.get("body", "")
    body = re.sub(r'(?<!">)<img [^>]*?src="([^"]+)"[^>]*>', shown_picture, body)
    context["body"] = re.sub(r"<(t[dh])\b.*?</\1>", with_breaks, body, flags=re.S)


def texts(doctree):
    """A page's text, and by "#" and name that of each section and object."""
    found = {"": " ".join(doctree.astext().split())}
    for node in doctree.findall(lambda node: isinstance(node, (nodes.section, addnodes.desc))):
        text = " ".join(node.astext().split())[:400]
        names = node["ids"] if isinstance(node, nodes.section) else node[0]["ids"]
        found |= {f"#{name}": text for name in names}
    return found


def write_excerpts(app, exception):
    """What _templates/search.html reads instead of the pages, which browsers do not fetch from files."""
    if exception is None and app.builder.name == "html":
        pages = {name: texts(app.env.get_doctree(name)) for name in sorted(app.env.all_docs)}
        file = Path(app.outdir) / "_static/excerpts.js"
        file.write_text(f"const EXCERPTS = {json.dumps(pages)};\n")


def lacks(html):
    """What a page of the site lacks."""
    wanted = {
        "description": r'<meta (?=[^>]*name="description")[^>]*content="[^"]{20,}',
        "icon": r'<link rel="icon" href="[^"]*\.svg"',
        "way to another page": r'class="(left-prev|right-next)"',
    }
    return [name for name, pattern in wanted.items() if not re.search(pattern, html)]


def check_pages(app, exception):
    if exception is None and app.builder.name == "html":
        for name in app.env.found_docs:
            file = Path(app.builder.get_outfilename(name))
            for what in lacks(file.read_text()):
                LOG.warning("%s: no %s", name, what)


def setup(app):
    app.connect("doctree-read", mark_code)
    app.connect("html-page-context", complete_page)
    app.connect("build-finished", write_excerpts)
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
