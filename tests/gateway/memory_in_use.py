"""How much memory this process has in use, without what its allocator keeps for later."""

import ctypes
import gc

import psutil


def taken_mib() -> float:
    """What the process has taken from the system."""
    return psutil.Process().memory_info().rss / 2**20


def used_mib() -> float:
    """What is left when free memory has been given back; the C library can do that (glibc), or taken counts as used."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return taken_mib()
