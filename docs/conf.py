"""The site's configuration. `python -m sphinx -W --keep-going -n docs docs/_build/html` makes it.

It needs the extra `docs` of pyproject.toml, an installed dmlcpu, whose docstrings it reads, and Doxygen.
"""

import importlib.util
import sys
from pathlib import Path

import dmlcpu

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "dmlcpu"
author = "The dmlcpu developers"
version = release = dmlcpu.__version__

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "generated",
    "page_parts",
    "sources",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
# Blocks without a language are drawings, calls and outputs.
highlight_language = "text"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Docstrings put arguments and objects alike in backquotes; what can be imported becomes a link.
default_role = "autolink"
autosummary_generate = False
autodoc_typehints = "none"
# Longer signatures have a line for each argument.
maximum_signature_line_length = 92
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "undoc-members": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# The page of a door is the same where its library is missing.
autodoc_mock_imports = [
    name for name in ("torch", "onnx") if importlib.util.find_spec(name) is None
]

breathe_projects = {"dmlcpu": "_build/doxygen/xml"}
breathe_default_project = "dmlcpu"
breathe_show_include = False
# Arguments (see default_role) and other libraries' names are no objects of this site; nor are namespaces,
# what the C++ library keeps to itself, and names of C, the standard library and DirectML.
nitpick_ignore_regex = [
    ("py:obj", ".*"),
    ("py:(class|exc)", r"(numpy|collections|torch|dask)\..*"),
    ("cpp:identifier", r"dmlcpu(::directml)?|detail.*|std|u?int\d+_t|UINT.*|DML_.*"),
]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"dmlcpu {release}"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
# The groups are the captions of index.md's toctrees; the landing page has them in the header alone.
html_sidebars = {"**": ["sidebar-groups"], "index": []}
html_theme_options = {
    "logo": {
        "image_light": "_static/icon.svg",
        "image_dark": "_static/icon.svg",
        "text": html_title,
    },
    "navbar_center": ["navbar-groups"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
