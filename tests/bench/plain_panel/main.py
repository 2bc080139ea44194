"""The three-token lab as a competent user of plain Panel writes it: the yardstick of the benchmark, no part of the book.

The same controls as the book's, three Bokeh heatmaps with their numbers, and data sources that are updated in place.
"""

import panel as pn
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.palettes import Viridis256
from bokeh.plotting import figure

from content.sections.three_tokens.compute import SECTION

pn.extension()

TOKENS = ["a", "b", "c"]
names = [f"{kind}{token}{coordinate}" for token in range(3) for kind in "qv" for coordinate in range(2)]
defaults = SECTION.defaults()
sliders = {name: pn.widgets.FloatSlider(name=name, start=-3, end=3, step=0.05, value=defaults[name]) for name in names}
token = pn.widgets.RadioButtonGroup(name="token", options={name: k for k, name in enumerate(TOKENS)}, value=0)
scaled = pn.widgets.Checkbox(name="scaled", value=True)


def trace():
    values = {name: slider.value for name, slider in sliders.items()}
    return SECTION.compute(token=token.value, scaled=int(scaled.value), **values)


def heatmap(array, title, columns, low, high):
    rows = [row for row in TOKENS for _ in columns]
    values = array.ravel()
    text = [f"{x:.2f}" for x in values]
    source = ColumnDataSource({"row": rows, "column": columns * 3, "value": values, "text": text}, name=title)
    plot = figure(title=title, width=300, height=260, x_range=columns, y_range=TOKENS[::-1], tools="hover", toolbar_location=None)
    colour = LinearColorMapper(Viridis256, low=low, high=high)
    plot.rect("column", "row", 1, 1, source=source, fill_color={"field": "value", "transform": colour}, line_color=None)
    plot.text("column", "row", text="text", source=source, text_align="center", text_baseline="middle")
    return source, plot


now = trace()
maps = {
    "scores": heatmap(now.scores, "scores", TOKENS, -9, 9),
    "weights": heatmap(now.weights, "weights", TOKENS, 0, 1),
    "output": heatmap(now.output, "output", ["x", "y"], -3, 3),
}


def update(*_):
    now = trace()
    for name, (source, _) in maps.items():
        values = getattr(now, name).ravel()
        source.data.update(value=values, text=[f"{x:.2f}" for x in values])


for widget in (*sliders.values(), token, scaled):
    widget.param.watch(update, "value")

groups = [pn.Column(*(sliders[name] for name in names if name[1] == str(k)), visible=k == 0) for k in range(3)]


def show(event):
    for k, group in enumerate(groups):
        group.visible = k == event.new


token.param.watch(show, "value")
pn.Column("# Three tokens", token, *groups, scaled, pn.Row(*(pn.pane.Bokeh(plot) for _, plot in maps.values()))).servable()
