"""The place of a victim policy written in Python in the championship (docs/championship.md).

    python3 championship.py build/bench/libchampionship.so [CORPUS...]
"""
import ctypes
import functools
import os
import sys
import traceback
import gpump


def ends_on_error(hook):
    """C cannot pass an exception on: the hook's process ends, and the table says so."""
    @functools.wraps(hook)
    def called(args):
        try:
            return hook(args)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    return called


@ends_on_error
def cautious(args):
    """A hook: a block drains where that is in time, and else leaves as it wastes least."""
    allowed, estimate = args.allowed, args.estimate
    if allowed >> gpump.TECHNIQUE_DRAIN & 1 and estimate.latency[gpump.TECHNIQUE_DRAIN] <= args.left:
        return gpump.TECHNIQUE_DRAIN
    return min((t for t in range(gpump.TECHNIQUES) if allowed >> t & 1), key=lambda t: estimate.overhead[t])


policy = gpump.victim_policy.copy(gpump.victim_find('dual'), name='cautious', technique=cautious)
if len(sys.argv) < 2:
    sys.exit(__doc__)
names = ['championship', '--policy', 'dual', '--policy', 'chimera'] + sys.argv[2:]
arguments = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
address = ctypes.c_void_p(int(gpump.ffi.cast('uintptr_t', policy)))
layouts = ctypes.c_uint32(gpump.LAYOUT_GPU), ctypes.c_uint32(gpump.LAYOUT_VICTIM)  # another version is refused in words
sys.exit(ctypes.CDLL(sys.argv[1]).championship(len(names), arguments, address, *layouts))
