# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Builds for Windows and for other systems: compilers, libraries of the target, and what can be run here.

windows=$deps/windows
windows_packages=(gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix libz-mingw-w64-dev)
# Wine, a display for its Vulkan, and what makes a DLL for it of a library of this machine.
wine_packages=(wine64 wine64-tools xvfb xauth)

build_for_windows() {
    build_library windows "$@" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/mingw-w64.cmake" -DWEFT_WINDOWS_DIR="$windows"
}

# setup_windows: the compilers, and what Weft links, into build/deps/windows. Vulkan's headers are the same for all systems.
setup_windows() {
    install_packages "${windows_packages[@]}"
    find_cmake
    find_ninja
    mkdir -p "$windows/include"
    local header
    for header in vulkan vk_video volk.h spirv CL; do
        ln -sfn "/usr/include/$header" "$windows/include/$header"
    done
    local library
    for library in jansson libzip utf8proc; do
        "build_$library" windows -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/mingw-w64.cmake" -DWEFT_WINDOWS_DIR="$windows"
    done
    # The optimizer would want SPIRV-Tools; the limits that VkFFT's generator takes come with the programs.
    build_for_windows glslang -DENABLE_OPT=OFF -DENABLE_CTEST=OFF -DENABLE_HLSL=OFF
}

# setup_wine: what runs the tests of the build for Windows.
setup_wine() {
    install_packages "${wine_packages[@]}"
    ln -sfn /usr/include/rapidjson "$windows/include/rapidjson"
    build_for_windows cmocka -DCMAKE_C_FLAGS=-D__USE_MINGW_ANSI_STDIO=1 -DWITH_STATIC_LIB=ON -DUNIT_TESTING=OFF -DWITH_EXAMPLES=OFF
    # It makes a DLL in any case.
    rm -f "$windows/lib/libcmocka.dll.a"
    ln -sfn libcmocka-static.a "$windows/lib/libcmocka.a"
}

# build_windows [TARGET [CONFIGURE OPTION...]]
build_windows() {
    setup_build
    setup_windows
    command_build windows "$@"
}

# test_windows [CTEST ARGUMENT...]
test_windows() {
    setup_windows
    setup_wine
    build_windows '' -DWEFT_BUILD_TESTS=ON || return 1
    say "testing preset windows"
    # What Wine began without a display, or with another one, goes on without Vulkan.
    build/windows/wine.sh --end
    build/windows/wine.sh --begin || return 1
    local code=0
    # shellcheck disable=SC2016 # by the shell that has the display
    xvfb-run --auto-servernum sh -c 'build/windows/wine.sh --serve && exec "$@"' sh \
        "$ctest" --preset windows -j 2 --output-junit "$root/build/junit-windows.xml" "$@" || code=$?
    build/windows/wine.sh --end
    return "$code"
}

command_windows() { build_windows weft-cli; }

# --- Foreign targets -----------------------------------------------------------------------------

# What Weft's own build needs of the target's libraries, as Debian names them. Wheels have the others from source.
foreign_compiled_in=(glslang-dev glslang-tools spirv-tools spirv-headers opencl-c-headers libvulkan-dev libvulkan-volk-dev)
foreign_libraries=(libjansson-dev libzip-dev libutf8proc-dev "${foreign_compiled_in[@]}")

# foreign_build NAME TARGET... [-- CONFIGURE OPTION...]: targets of preset NAME. What runs while building is native.
foreign_build() {
    local preset=$1 targets=()
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        targets+=(--target "$1")
        shift
    done
    (($# > 0)) && shift
    say "compiling for $preset"
    "$cmake" --preset "$preset" "${ninja_options[@]}" "$shaders_option" "-DWEFT_KERNEL_HEADER=$root/build/kernel-header" "$@" \
        >"build/foreign-$preset.log" ||
        { tail -n 20 "build/foreign-$preset.log" >&2; return 1; }
    build_tree "build/$preset" --parallel "$jobs" "${targets[@]}"
}

foreign_tools() {
    setup_build
    build_shaders
    find_ninja
}

# The host's LLVM, whose headers are the same as the target's.
llvm_folder() {
    find /usr/lib -maxdepth 1 -name 'llvm-*' -exec test -f '{}/lib/cmake/llvm/LLVMConfig.cmake' \; -print |
        sort -V | tail -n 1
}

setup_aarch64() {
    local llvm manifest
    install_packages g++-aarch64-linux-gnu qemu-user
    llvm=$(llvm_folder)
    unpack_foreign arm64 arm64 '' "${foreign_libraries[@]}" libcmocka-dev rapidjson-dev \
        "libllvm${llvm##*-}" mesa-vulkan-drivers libvulkan1 ||
        die "the arm64 packages could not be fetched (log: build/deps/apt/arm64/install.log)"
    manifest=$(find "$deps/arm64/usr/share/vulkan/icd.d" -name 'lvp_icd*.json')
    drivers=$deps/arm64/drivers write_driver lavapipe "$manifest" \
        "$deps/arm64/usr/lib/aarch64-linux-gnu/libvulkan_lvp.so"
}

foreign_aarch64() {
    setup_aarch64
    foreign_build aarch64 weft-cli weft-tests-unit -- \
        "-DLLVM_DIR=$(llvm_folder)/lib/cmake/llvm"
}

# What the wheel and the static command for AArch64 are made of, in WEFT_TARGET_ROOT. What is compiled in has its place among the target's
# libraries.
wheel_aarch64_libraries() {
    local target=$deps/wheel-aarch64 toolchain=$root/cmake/toolchains/aarch64-linux-gnu.cmake
    install_packages g++-aarch64-linux-gnu
    unpack_foreign wheel-aarch64 arm64 '' "${foreign_compiled_in[@]}" libpython3-dev zlib1g-dev "$(basename "$(llvm_folder)")-dev" ||
        die "the arm64 packages could not be fetched (log: build/deps/apt/wheel-aarch64/install.log)"
    export WEFT_TARGET_ROOT=$target
    DESTDIR=$target wheel_libraries wheel-aarch64/usr -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_INSTALL_PREFIX=/usr
}

wheel_aarch64() {
    local target=$deps/wheel-aarch64 toolchain=$root/cmake/toolchains/aarch64-linux-gnu.cmake
    wheel_aarch64_libraries
    _PYTHON_HOST_PLATFORM=linux-aarch64 make_wheel wheel-aarch64 aarch64 aarch64-linux-gnu-gcc "CMAKE_TOOLCHAIN_FILE=$toolchain" \
        "WEFT_KERNEL_HEADER=$root/build/kernel-header" "LLVM_DIR=$target$(llvm_folder)/lib/cmake/llvm" \
        "Python_INCLUDE_DIR=$(echo "$target"/usr/include/python3.*)"
}

# What this machine's processor may hide; configuration fails where one has no source (tests/cmake/programs.cmake).
foreign_unit_tests=(host_bits native_object native_compile)

# The cases that execute each kernel.
write_kernel_list() {
    sed -nE '/^#/d; s/ (.* )?kernels( .*)?$//p' tests/data/cases.txt >build/kernels.txt
}

# On a processor of another kind, QEMU compiles what LLVM compiles: half a minute and more for each kernel of some.
foreign_test_aarch64() {
    local run=(qemu-aarch64 -L "$deps/arm64") weft=build/aarch64/weft test
    local processor=(env VK_DRIVER_FILES="$root/build/aarch64/no-driver.json" XDG_CACHE_HOME="$root/build/aarch64/cache")
    [[ $(uname -m) == aarch64 ]] && run=()
    for test in "${foreign_unit_tests[@]}"; do
        say "aarch64: $test"
        "${processor[@]}" "${run[@]}" build/aarch64/tests/unit-tests "$test" || return 1
    done
    say "aarch64: kernels on the processor device"
    write_kernel_list
    "${processor[@]}" "${run[@]}" "$weft" devices &&
        "${processor[@]}" "${run[@]}" "$weft" verify --bits tests/data/bits --list build/kernels.txt || return 1
    say "aarch64: a kernel on lavapipe"
    env VK_DRIVER_FILES="$deps/arm64/drivers/lavapipe.json" WEFT_PROCESSOR=0 GALLIVM_PERF=nopt \
        XDG_CACHE_HOME="$root/build/aarch64/cache" LD_LIBRARY_PATH= \
        "${run[@]}" "$weft" verify --bits tests/data/bits --filter softmax/unit/rank=1,rows=1,columns=7
}

foreign_clang() {
    install_packages clang
    foreign_build clang weft-cli weft-tests-unit
}

foreign_test_clang() {
    write_kernel_list
    "$cmake" --build build/clang --parallel "$jobs" && build/clang/tests/unit-tests host_bits &&
        build/clang/weft verify --device processor --bits tests/data/bits --list build/kernels.txt
}

# Headers of libraries and nothing else: the C library's are zig's.
setup_zig() {
    local package folder=$deps/libraries
    python_environment "$deps/zig" cmake/toolchains/requirements.txt
    WEFT_ZIG=$("$deps/zig/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
    export WEFT_ZIG WEFT_TARGET_ROOT=$folder
    [[ -e $folder/usr/include/OpenCL && $(<"$folder/packages") == "${foreign_libraries[*]}" ]] && return 0
    update_private_lists
    rm -rf "$folder.partial" "$folder"
    for package in "${foreign_libraries[@]}"; do
        unpack "$package" "$(available_version "$package" "$(codename)")" "libraries-$package" || return 1
        mkdir -p "$folder.partial"
        cp -a "$deps/libraries-$package/." "$folder.partial"
        rm -rf "$deps/libraries-$package"
    done
    ln -s CL "$folder.partial/usr/include/OpenCL" # where macOS has them
    printf '%s' "${foreign_libraries[*]}" >"$folder.partial/packages"
    mv "$folder.partial" "$folder"
}

# zig_objects NAME TARGET: our objects for a target of zig's, not linked.
zig_objects() {
    setup_zig
    WEFT_ZIG_TARGET=$2 foreign_build "$1" weft_core_objects weft_objects weft-cli-objects
}

foreign_musl() { zig_objects musl x86_64-linux-musl; }

foreign_macos() {
    zig_objects macos aarch64-macos
}

foreign_windows() { build_windows weft-cli; }

foreign_names=(aarch64 clang musl macos windows)

# One after another, whatever becomes of those before.
command_foreign() {
    local test=0 failed=() name
    if [[ ${1:-} == --test ]]; then
        test=1
        shift
    fi
    for name in "$@"; do
        declare -F "foreign_$name" >/dev/null || die "no foreign target is called $name (there are: ${foreign_names[*]})"
    done
    (($# > 0)) || set -- "${foreign_names[@]}"
    foreign_tools
    for name in "$@"; do
        ("foreign_$name") || { failed+=("$name"); continue; }
        if ((test)) && declare -F "foreign_test_$name" >/dev/null; then
            ("foreign_test_$name") || failed+=("$name")
        fi
    done
    ((${#failed[@]} == 0)) || die "foreign targets failed: ${failed[*]}"
    say "foreign targets: $* are right"
}
