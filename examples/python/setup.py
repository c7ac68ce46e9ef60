import os
import sys

from setuptools import setup
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


setup(name='gpump', version='0.4.0', description='GPU preemption and fault mechanisms', license='MIT', packages=['gpump'],
      python_requires='>=3.9', install_requires=['cffi>=1.14'], cffi_modules=['build_gpump.py:ffibuilder'],
      cmdclass={'build_py': BuildWithFunctions})
