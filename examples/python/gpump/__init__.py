"""GPU preemption and fault mechanisms: gpump.h for Python.

    import gpump
    gpu = gpump.gpu.preset('h100')
    need = gpump.footprint(threads=256, registers=256 * 64, shared_bytes=16384)
    fits = gpump.gpu_occupancy(gpu, need)
    print(fits.blocks, 'blocks,', fits.blocks * gpump.gpu_context_bytes(gpu, need), 'bytes')

Names are those of gpump.h without `gpump_`, constants those without `GPUMP_`. A function takes what its C form reads, in
that order; counts, capacities and diagnostics are filled in, and what the C form sets is returned. An error raises
gpump.Error (a class per code, such as gpump.ConfigError), GPUMP_BUSY raises gpump.NotNow, and GPUMP_EMPTY gives None.
Structs are made by name with keywords, gpump.block_view(executed=5); arrays are lists, C arrays or numpy arrays, and
gpump.view(array) is a numpy view of the same memory.
"""
from . import _functions, _runtime, victims  # noqa: F401
from ._functions import *  # noqa: F401,F403
from ._runtime import Error, NotNow, as_dict, dtype, ffi, lib, view  # noqa: F401
from ._runtime import python_text as text  # noqa: F401

for _error in _runtime.ERRORS.values():
    globals()[_error.__name__] = _error

__version__ = '%d.%d.%d' % (_functions.VERSION_MAJOR, _functions.VERSION_MINOR, _functions.VERSION_PATCH)


def _verb(name):
    def call(component, *arguments, **fields):
        return getattr(component, name)(*arguments, **fields)
    call.__name__ = name
    call.__doc__ = getattr(_runtime.Component, name).__doc__
    return call


# The verbs as functions, too: gpump.preset(gpump.sm, 'k20c') is gpump.sm.preset('k20c').
(preset, preset_for, bytes_of, bits, table_bits, init, adopt, check, hash_of, next_cycle, get_statistics, statistics_diff,
 statistics_table) = map(_verb, ('preset', 'preset_for', 'bytes', 'bits', 'table_bits', 'init', 'adopt', 'check', 'hash', 'next_cycle',
                                 'statistics', 'statistics_diff', 'statistics_table'))
