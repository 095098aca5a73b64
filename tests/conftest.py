"""Properties are drawn the same way each time, and a busy machine fails none of them."""

from hypothesis import settings
from hypothesis.internal.conjecture import providers

settings.register_profile("truefall", deadline=None, derandomize=True)
settings.load_profile("truefall")

# Hypothesis also draws the numbers and strings that stand in whichever of our modules are imported by then, so that
# what a property tries would depend on the tests that ran before it, and on every line of the source. It has no
# setting for that.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers._local_constants
