from . import _disable_profiler, _enable_profiler, _prepare_profiler  # noqa: F401  (names of this module, as in torch)

_is_profiler_enabled = False
