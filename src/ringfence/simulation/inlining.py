"""Compiles rules as far as a kernel needs them, which is not to machine code.

Numba makes machine code of every function that compiled code calls. Rules are inlined into their
kernel, so theirs is never run, and takes a third of the time until a first result. Here they stop
at LLVM's optimised code. This reaches into Numba, so with a Numba that is newer than those tried
(0.61 to 0.68) the import fails, and `compilation` goes Numba's own way, which is only slower.

May touch Numba.
"""

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

if numba.version_info.short > (0, 68):
    raise ImportError(f"inlining was not tried with Numba {numba.__version__}")


# What little more than calls a rejection rule, or shares out what a phase has. Of the functions
# around a choosing rule, the same made kernels a tenth slower.
_COMPOSED = {
    "ringfence.policies.course": ("phased.<locals>.decide", "begin_phases", "fill_phase"),
    "ringfence.core.allowance": ("ration", "add_extra", "next_in_priority", "keep_paid"),
}


class InlinedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into other code, and never run by itself."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class ComposedLibrary(InlinedLibrary):
    """Code that little more than calls other code: it is optimised where it ends up, with that.

    Doing so here as well took a tenth of the time until a first result of phase policies, for
    nothing. Of rules it is not for nothing: some kernels ran a third longer without.
    """

    def _optimize_final_module(self) -> None:
        """Leave the code as it is."""


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(NativeLowering):  # type: ignore[misc]
    """Lowers a function without making anything that Python or C could call."""

    _name = "inlined_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and tell Numba where its callers find it."""
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        state.flags.no_cpython_wrapper = True
        state.flags.no_cfunc_wrapper = True
        function = state.func_id.func
        composed = function.__qualname__ in _COMPOSED.get(function.__module__, ())
        kind = ComposedLibrary if composed else InlinedLibrary
        library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state["library"] = library
        super().run_pass(state)
        lowered = state["cr"]
        key = object().__sizeof__  # any builtin function that is like no other will do
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class Inlined(Compiler):  # type: ignore[misc]
    """Numba's compiler, for functions that are inlined."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, with our way to lower in place of its own."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (InlinedLowering if step is NativeLowering else step, why)
                for step, why in pipeline.passes
            ]
            pipeline.finalize()
        return pipelines
