"""Entry of `panel serve app`: one page for one session. Run again for each of them, so it stays this small."""

from bokeh.io import curdoc

from app.section_page import open_page

open_page(curdoc())
