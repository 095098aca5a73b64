"""Two degradation policies on the same requests: which one tells the truth, and which one users like."""

from harness.ab.compare import Comparison, compare
from harness.ab.conclusion import Choice, Conclusion, conclude

__all__ = ["Choice", "Comparison", "Conclusion", "compare", "conclude"]
