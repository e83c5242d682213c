"""How a worker's memory goes back to the system.

glibc raises the size from which it maps memory of its own for an allocation each time that such a
one is freed. From then on arrays of passing looks lie among small things that stay, and holes
between them are kept: a worker of 200 watched jobs grew from 202 to 219 MB within 50 minutes, of
which nothing was in use. A size that is set stays as it is.
"""

import ctypes

#: glibc's own values before it raises them (bytes), and their numbers in <malloc.h>.
_THRESHOLD = 128 * 1024
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def give_back_what_is_freed() -> bool:
    """Keeps this process from hoarding; False where the C library cannot be told to (no glibc)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _THRESHOLD) and mallopt(_M_TRIM_THRESHOLD, _THRESHOLD))
