# SPDX-License-Identifier: MIT
"""Builds the example in C++ against the package and runs it, and looks for the licences."""

import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class WeftTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.user_presets_path = False
        options = self.dependencies["weft"].options
        if str(options.shared) == "True":
            toolchain.cache_variables["COMPONENTS"] = "shared"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        licences = os.path.join(self.dependencies["weft"].package_folder, "licenses")
        for name in ("LICENSE", "THIRD-PARTY-NOTICES.txt"):
            if not os.path.isfile(os.path.join(licences, name)):
                raise ConanException(f"the package has no {name} in {licences}")
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "quickstart"), env="conanrun")
