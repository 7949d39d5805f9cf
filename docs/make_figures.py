"""Draws the pictures in docs/images again, from the rules and the simulator themselves."""

from pathlib import Path

import ringfence as rf
from ringfence.interfaces.study_file import read_study_file
from ringfence.reports.charts import STUDY_CHARTS, paper_figure, plan_figure, scene_figure
from ringfence.reports.scenes import NEAR_MISS, TIE_RULE

IMAGES = Path(__file__).parent / "images"
EXAMPLE = Path(__file__).parents[1] / "examples" / "incentives.toml"


def draw_study() -> None:
    """Run the example study, and write every picture of it."""
    file = read_study_file(EXAMPLE)
    study = file.open(storage="memory://")
    study.optimize(file.evaluation())
    for kind in STUDY_CHARTS:
        print(rf.save_chart(study.figure(kind), IMAGES / f"study-{kind}.svg"))


def main() -> None:
    """Write every picture that the README and the docs show."""
    IMAGES.mkdir(exist_ok=True)
    draw_study()
    print(rf.save_chart(scene_figure([TIE_RULE, NEAR_MISS]), IMAGES / "scenes.svg"))
    plan = rf.plan("paper-3", target_error=1e-4, brief=True)
    print(rf.save_chart(plan_figure(plan.to_dict()), IMAGES / "plan.svg"))
    report = rf.reproduce_paper(replications=1_000_000)
    print(rf.save_chart(paper_figure(report), IMAGES / "paper.svg"))


if __name__ == "__main__":
    main()
