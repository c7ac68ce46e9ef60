"""gpump for Conan 2: conan create . --version VERSION"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir


class Gpump(ConanFile):
    name = 'gpump'
    license = 'MIT'
    description = 'GPU preemption and fault mechanisms for simulators, as one C header'
    topics = ('gpu', 'preemption', 'simulation')
    settings = 'os', 'arch', 'compiler', 'build_type'
    options = {'shared': [True, False], 'fPIC': [True, False]}
    default_options = {'shared': False, 'fPIC': True}
    implements = ['auto_shared_fpic']
    languages = 'C'

    def layout(self):
        cmake_layout(self, src_folder='src')

    def requirements(self):
        self.requires('stb/cci.20230920', transitive_headers=True)

    def source(self):
        get(self, **self.conan_data['sources'][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ('TESTS', 'EXAMPLES', 'BENCH'):
            toolchain.cache_variables['GPUMP_' + name] = False
        stb = self.dependencies['stb'].cpp_info.aggregated_components()
        toolchain.cache_variables['CMAKE_C_STANDARD_INCLUDE_DIRECTORIES'] = ';'.join(stb.includedirs)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, 'LICENSE', self.source_folder, os.path.join(self.package_folder, 'licenses'))
        for folder in ('cmake', 'pkgconfig'):
            rmdir(self, os.path.join(self.package_folder, 'lib', folder))

    def package_info(self):
        self.cpp_info.set_property('cmake_file_name', 'gpump')
        self.cpp_info.set_property('cmake_target_name', 'gpump::gpump')
        self.cpp_info.set_property('pkg_config_name', 'gpump')
        self.cpp_info.libs = ['gpump']
