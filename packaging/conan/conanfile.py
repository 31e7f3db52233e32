# SPDX-License-Identifier: MIT
"""Weft for Conan 2, built from the source tree around this file: `conan create packaging/conan`.

Its dependencies are the system's packages, not Conan's: with `-c tools.system.package_manager:mode=install` those of Debian and
its kin are installed. VkFFT older than 1.3 is not enough: `-o weft/*:vkfft=FOLDER` names a newer one's headers.
"""

import os
import re
import shutil

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"

# What is built, of the source tree.
FILES = ("CMakeLists.txt", "LICENSE", "THIRD-PARTY-NOTICES.txt", "packaging/components.json",
         "packaging/commit.txt")
FOLDERS = ("cmake", "runtime", "shaders", "bench", "api/include", "api/cli", "api/verify")


class Weft(ConanFile):
    name = "weft"
    description = "Sequence-mixing networks on any Vulkan or OpenCL device and on processors, with the same bits from each"
    license = "MIT"
    topics = ("vulkan", "machine-learning", "inference", "fourier-transform", "toeplitz")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "processor": [True, False],
               "command": [True, False], "vkfft": [None, "ANY"]}
    default_options = {"shared": False, "fPIC": True, "processor": True, "command": False, "vkfft": None}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "..", "..", "CMakeLists.txt"))
        self.version = re.search(r"project\(weft VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for file in FILES:
            folder = os.path.dirname(file)
            target = os.path.join(self.export_sources_folder, folder)
            os.makedirs(target, exist_ok=True)
            shutil.copy2(os.path.join(root, file), target)
        for folder in FOLDERS:
            copy(self, "*", src=os.path.join(root, folder), dst=os.path.join(self.export_sources_folder, folder))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        # The library is C with a C++ part inside: its users see C.
        self.settings.rm_safe("compiler.cppstd")

    def package_id(self):
        del self.info.options.vkfft  # a build's matter: what is built of it is the same

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        wanted = ["glslang-tools", "glslang-dev", "spirv-tools", "spirv-headers", "opencl-c-headers",
                  "libvulkan-dev", "libvulkan-volk-dev", "libjansson-dev", "libzip-dev", "libutf8proc-dev",
                  "ninja-build", "pkg-config"]
        if self.options.processor:
            wanted.append("llvm-15-dev")
        if self.options.command:
            wanted.append("libjs-chart.js")
        if not self.options.vkfft:
            wanted.append("libvkfft-dev")
        Apt(self).install(wanted)

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.user_presets_path = False
        variables = toolchain.cache_variables
        variables["WEFT_BUILD_TESTS"] = False
        variables["WEFT_BUILD_EXAMPLES"] = False
        variables["WEFT_BUILD_CLI"] = bool(self.options.command)
        variables["WEFT_LLVM"] = "ON" if self.options.processor else "OFF"
        if self.options.vkfft:
            variables["VKFFT_INCLUDE_DIR"] = str(self.options.vkfft)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))
        for name in ("LICENSE", "THIRD-PARTY-NOTICES.txt"):
            copy(self, name, src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # Weft's own CMake package and weft.pc know what a static libweft is linked to.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("pkg_config_name", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "weft")]
        self.cpp_info.libs = ["weft"]
        self.buildenv_info.append_path("PKG_CONFIG_PATH", os.path.join(self.package_folder, "lib", "pkgconfig"))
