"""Compiles gpump.h and the functions that call it from Python: cffi reads `ffibuilder` from here."""
import os
import sys

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from declarations import Header  # noqa: E402

# Beside this file in a source package, else at the top of the project.
PATHS = [os.path.join(HERE, 'gpump.h'), os.path.normpath(os.path.join(HERE, '..', '..', 'gpump.h'))]
HEADER = next(path for path in PATHS if os.path.exists(path))

ffibuilder = cffi.FFI()
DECLARED = Header(HEADER, os.environ.get('CC', 'cc'))
ffibuilder.cdef(DECLARED.cdef())
ffibuilder.set_source('gpump._gpump', '#define GPUMP_STATIC\n#define GPUMP_IMPLEMENTATION\n#include "gpump.h"\n' + DECLARED.batch_source(),
                      include_dirs=[os.path.dirname(HEADER)], extra_compile_args=['-O2', '-w'])
