"""As much of torch as the helper touches, with its rules: two profiles at once cancel the first, and exporting a cancelled one would
end the process (here: calls crash). What happens is written into `log`."""
__version__ = "0.0"

from . import _C, autograd, profiler  # noqa: E402,F401
