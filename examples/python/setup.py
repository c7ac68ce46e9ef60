import os
import re
import sys

try:
    import cffi  # noqa: F401
    if 'dist_info' in sys.argv or 'bdist_wheel' in sys.argv:  # pip's commands
        import wheel  # noqa: F401
    from setuptools import setup
except ImportError as missing:
    sys.exit('gpump: %s has no module %s. Debian and Ubuntu: apt-get install python3-cffi python3-wheel python3-setuptools python3-dev, and '
             'make the environment with /usr/bin/python3 -m venv --system-site-packages' % (sys.executable, missing.name))
from setuptools.command.build_py import build_py

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class BuildWithFunctions(build_py):
    """Writes gpump/_functions.py from gpump.h beside the package's own files."""

    def run(self):
        super().run()
        from build_gpump import HEADER
        from declarations import Header
        from functions import python_text
        with open(os.path.join(self.build_lib, 'gpump', '_functions.py'), 'w', encoding='utf-8') as file:
            file.write(python_text(Header(HEADER, os.environ.get('CC', 'cc'))))


def version():
    """The version of gpump.h: that beside this file in a source package, else that at the top of the project."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = next(p for p in (os.path.join(here, 'gpump.h'), os.path.join(here, '..', '..', 'gpump.h')) if os.path.exists(p))
    with open(path, encoding='utf-8') as file:
        return '.'.join(re.findall(r'#define GPUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)', file.read())[:3])


setup(name='gpump', version=version(), description='GPU preemption and fault mechanisms', license='MIT', packages=['gpump'],
      python_requires='>=3.9', install_requires=['cffi>=1.14'], cffi_modules=['build_gpump.py:ffibuilder'],
      cmdclass={'build_py': BuildWithFunctions})
