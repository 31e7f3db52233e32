# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Libraries that Weft is built with: VkFFT, LLVM, and those that are built from Debian's sources.

vkfft_is_new_enough() {
    [[ -f $1/vkFFT.h ]] || return 1
    local version
    version=$(sed -n 's/.*return[[:space:]]*\([0-9]\{5,\}\);.*X\.XX\.XX.*/\1/p' "$1/vkFFT.h")
    [[ -n $version ]] && ((version >= 10300))
}

setup_vkfft() {
    if [[ -n ${VKFFT_INCLUDE_DIR:-} ]]; then
        vkfft_is_new_enough "$VKFFT_INCLUDE_DIR" ||
            die "VKFFT_INCLUDE_DIR=$VKFFT_INCLUDE_DIR holds no vkFFT.h of version 1.3 or later"
        return 0
    fi
    local folder version
    for folder in "$deps/vkfft/usr/include" /usr/local/include /usr/include; do
        vkfft_is_new_enough "$folder" && return 0
    done
    if update_private_lists; then
        version=$(available_version libvkfft-dev)
        if [[ -n $version ]] && dpkg --compare-versions "$version" ge 1.3 &&
            unpack libvkfft-dev "$version" vkfft && vkfft_is_new_enough "$deps/vkfft/usr/include"; then
            return 0
        fi
    fi
    die "VkFFT 1.3 or later could not be fetched: the archive this machine uses offers
  libvkfft-dev '${version:-none}' in $(codename) and its backports (log: build/deps/apt/update.log).
  Download VkFFT 1.3 and set VKFFT_INCLUDE_DIR to the folder that holds vkFFT.h."
}

# llvm_fits VERSION: of a package, such as 1:15.0.6-4.
llvm_fits() {
    [[ -n $1 ]] && dpkg --compare-versions "${1#*:}" ge 15 && dpkg --compare-versions "${1#*:}" lt 23~
}

# llvm_version PACKAGE: what apt would install, by the machine's lists, or by lists of our own where those are empty.
llvm_version() {
    local version
    version=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
    [[ $version == '(none)' ]] && version=
    if [[ -z $version ]] && update_private_lists >&2; then
        version=$(available_version "$1" || true)
    fi
    printf '%s' "$version"
}

# Where there is no LLVM, Weft needs a Vulkan driver instead.
setup_processor() {
    local name
    for name in "${processor_packages[@]}"; do
        package_installed "$name" &&
            llvm_fits "$(dpkg-query -W -f='${Version}' "$name")" && return 0
    done
    for name in "${processor_packages[@]}"; do
        if llvm_fits "$(llvm_version "$name")" && (install_packages "$name"); then
            return 0
        fi
    done
    note "this release has no LLVM of 15 to 22 (${processor_packages[*]}): the processor device has no compiler"
    install_packages "${driver_packages[@]}" # lavapipe takes its place
}

# setup_other_llvms [all]: LLVMs beside that of the build, for tests.
setup_other_llvms() {
    local name
    for name in "${other_llvm_packages[@]}"; do
        if package_installed "$name" || { [[ -n $(llvm_version "$name") ]] && (install_packages "$name"); }; then
            [[ ${1:-} == all ]] || return 0
        fi
    done
}

# build_library FOLDER PACKAGE [CMAKE OPTION...]: installs a library of Debian's, built from its source, into build/deps/FOLDER.
build_library() {
    local prefix=$deps/$1 package=$2 folder=$deps/apt/sources/$2
    shift 2
    [[ -f $prefix/$package.done ]] && return 0
    fetch_source "$package" ||
        die "the source of $package could not be fetched (log: build/deps/apt/source-$package.log)"
    say "building $package in ${prefix#"$root/"}"
    {
        "$cmake" -S "$folder" -B "$folder/build" -G Ninja "${ninja_options[@]}" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
            -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@" &&
            "$cmake" --build "$folder/build" --parallel "$jobs" --target install
    } >"$deps/apt/build-$package.log" 2>&1 || die "$package could not be built (log: build/deps/apt/build-$package.log)"
    rm -rf "$folder"
    touch "$prefix/$package.done"
}

build_jansson() { build_library "$1" jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF "${@:2}"; }

# build_libzip FOLDER [CMAKE OPTION...]: without the formats and the cryptography that .npz has no use for, and without
# arc4random, which they use and glibc has since 2.36.
build_libzip() {
    build_library "$1" libzip -DHAVE_ARC4RANDOM=OFF -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
        -DENABLE_WINDOWS_CRYPTO=OFF -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DBUILD_TOOLS=OFF \
        -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF "${@:2}"
    # It does not say that it needs zlib, and that it is no shared library.
    # shellcheck disable=SC2016 # pkg-config's names
    sed -i 's/^Libs: .*/Libs: -L${libdir} -lzip -lz/; s/^Cflags: .*/Cflags: -I${includedir} -DZIP_STATIC/' \
        "$deps/$1/lib/pkgconfig/libzip.pc"
}

# build_utf8proc FOLDER [CMAKE OPTION...]: its CMake file is older than what new versions of CMake still read.
build_utf8proc() {
    build_library "$1" utf8proc -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${@:2}"
    # It does not say that it is no shared library.
    # shellcheck disable=SC2016 # pkg-config's names
    sed -i 's/^Cflags: .*/Cflags: -I${includedir} -DUTF8PROC_STATIC/' "$deps/$1/lib/pkgconfig/libutf8proc.pc"
}

setup_build() {
    install_packages "${build_packages[@]}" "$@"
    setup_vkfft
    setup_processor
}

# setup_godot: the one of Debian's unstable, by its own loader, as build/deps/godot.sh. What it loads may need libraries of this machine.
setup_godot() {
    local folder=$deps/godot libraries
    unpack_foreign godot "$(dpkg --print-architecture)" sid godot || return 1
    libraries=$folder/usr/lib/$(gcc -print-multiarch)
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$(echo "$libraries"/ld-linux-*.so.*)" \
        "$libraries:$libraries/blas:$libraries/lapack:$libraries/pulseaudio:/usr/lib/$(gcc -print-multiarch)" \
        "$folder/usr/bin/godot" >"$deps/godot.sh"
    chmod +x "$deps/godot.sh"
}

# The programs that take Weft into GLFW, libplacebo, FFmpeg and Godot, which ./dev test all builds and runs.
host_options=() # for CMake, once setup_hosts was there
setup_hosts() {
    install_packages "${host_packages[@]}"
    host_options=("-DWEFT_EXAMPLE_"{WINDOW,LIBPLACEBO,FFMPEG}"=ON")
    if setup_godot; then
        host_options+=(-DWEFT_EXAMPLE_GODOT=ON "-DWEFT_GODOT=$deps/godot.sh")
    else
        note "Godot is not to be had here, and not tested (logs: build/deps/apt/godot)"
    fi
}

# setup_fuzz: clang and the package with its libFuzzer, which is named after its version.
setup_fuzz() {
    install_packages "${fuzz_packages[@]}"
    install_packages "libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev"
}
