"""`ringfence figure`: a picture of a study, as a file. May touch every room."""

from pathlib import Path
from typing import Annotated

import typer

from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import KINDS, THEMES, Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study


def figure(
    study: StudyName,
    *,
    output_file: Annotated[
        Path, typer.Option("--output", help="A .png, .svg or .pdf file to write.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="map, timeline, allocation, evidence, differences; items or hours.",
            autocompletion=completing.among(*KINDS),
        ),
    ] = "map",
    theme: Annotated[
        str,
        typer.Option(
            "--theme", help="light, dark or print.", autocompletion=completing.among(*THEMES)
        ),
    ] = "light",
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Draw a study: its map, timeline, allocation, evidence or differences; its items or hours."""
    from ringfence.reports.charts import require_chart_path, require_study_chart, save_chart

    require_study_chart(kind, theme)
    require_chart_path(output_file, key="output")
    chart = open_study(study, storage).figure(kind, theme=theme)
    save_chart(chart, output_file, key="output")
    if json:
        output.print_json({"kind": kind, "theme": theme, "output": str(output_file)})
    else:
        output.say(f"figure: {output_file}")
