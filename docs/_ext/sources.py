"""What pages of the repository have that a site shows otherwise.

Links to folders become their text; those to files are offered as downloads by MyST. Blank lines at the
end of code, where doctests and cells of examples end, are left out.
"""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref


def folders_as_text(app, doctree):
    here = Path(app.env.doc2path(app.env.docname)).parent
    for link in list(doctree.findall(pending_xref)):
        if link["reftype"] == "myst" and (here / link["reftarget"].partition("#")[0]).is_dir():
            link.replace_self(nodes.inline("", "", *link.children))


def without_blank_ends(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # else it is no code to highlight
            block.rawsource = block.rawsource.strip("\n")
            block.children = []
            block += nodes.Text(block.rawsource)


def setup(app):
    app.connect("doctree-read", without_blank_ends)
    app.connect("doctree-read", folders_as_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
