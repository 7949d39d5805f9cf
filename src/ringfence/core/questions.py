"""The list of questions: a new one is a file beside this and a line below. May touch core."""

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import one_of
from ringfence.core.question import Question

QUESTIONS: tuple[Question, ...] = (BEST_FEASIBLE, ALL_FEASIBLE)


def find_question(name: str) -> Question:
    """Return the question of that name; an unknown name is answered with the nearest one."""
    for question in QUESTIONS:
        if question.name == name:
            return question
    raise one_of("answer", name, (question.name for question in QUESTIONS))
