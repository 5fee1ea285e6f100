# How the site looks. Sphinx reads this; docs/site/build calls it.
project = "tutti"
author = "The tutti authors"
copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_title = "tutti"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
}
pygments_style = "friendly"
myst_url_schemes = ("http", "https", "mailto", "extra")  # `extra:` is a file that docs/site/build has found
myst_heading_anchors = 4  # so that a link may name a heading, as on the pages of a repository
highlight_language = "text"
