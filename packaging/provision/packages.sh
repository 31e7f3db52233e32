# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# What is handed out: the wheel, the archive, the Debian packages, the Conan package.

# What a wheel and an archive have compiled in, since Debian alone has it. Debian's libzip would bring OpenSSL's cryptography, a quarter of the wheel.
# wheel_libraries FOLDER [CMAKE OPTION...]
wheel_libraries() {
    local library
    for library in jansson libzip utf8proc; do
        "build_$library" "$1" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DCMAKE_C_FLAGS="-fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$deps=deps" "${@:2}"
    done
    # Debian has zlib's archive, which pkg-config's callers take where it lies beside libzip's.
    library=$(find "$deps/$1/lib" -mindepth 2 -name libz.a)
    ln -sfn "${library:-$(gcc -print-file-name=libz.a)}" "$deps/$1/lib/libz.a"
}

# The oldest glibc that wheels and archives run with: that of RHEL 8, older than that of any other system with support.
oldest_glibc=2.28

# older_glibc FOLDER COMPILER: sets older_glibc_options to what CMake has to know to link for that, by libraries made in the folder.
older_glibc() {
    local kind
    "$python" packaging/glibc/link_libraries.py "$oldest_glibc" "$1" "$2" || die "there is nothing to link with for glibc $oldest_glibc"
    older_glibc_options=()
    for kind in MODULE SHARED EXE; do # libgcc's own library is of a newer glibc, here but not there
        older_glibc_options+=("CMAKE_${kind}_LINKER_FLAGS=-L$1 -Wl,--allow-shlib-undefined")
    done
}

# check_glibc FILE...: none asks for a function of a glibc newer than the oldest, nor for one of no library, but Python's.
check_glibc() {
    local newest unknown
    newest=$(readelf -W --version-info "$@" | grep -o 'GLIBC_[0-9.]*' | sort -V -u | tail -n 1)
    [[ $(printf '%s\n' "GLIBC_$oldest_glibc" "$newest" | sort -V | tail -n 1) == "GLIBC_$oldest_glibc" ]] ||
        die "$* need $newest, expected GLIBC_$oldest_glibc at most"
    unknown=$(nm -D --undefined-only "$@" | sed -n '/@/d; s/^ *U //p' | grep -v -E "^(_?Py|weft_)" || true)
    [[ -z $unknown ]] || die "$* need what no library has: $unknown"
}

# make_wheel PLACE ARCHITECTURE COMPILER [CMAKE OPTION...]: the package's wheel, $wheel, below build/PLACE. auditwheel names it
# after the C library that the module and the compiler beside it need.
make_wheel() {
    local place=build/$1 architecture=$2 compiler=$3 option settings=("--config-settings=build-dir=$root/build/$1/cmake") files
    shift 3
    rm -rf "$place"
    older_glibc "$root/$place/glibc" "$compiler"
    for option in "${shaders_option#-D}" WEFT_LLVM=BUNDLED "${older_glibc_options[@]}" "$@"; do
        settings+=("--config-settings=cmake.define.$option")
    done
    env CMAKE_EXECUTABLE="$cmake" SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
        "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$place/built" \
        "${settings[@]}" api/python
    env PATH="$(dirname "$python"):$PATH" SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
        "$python" -m auditwheel repair --wheel-dir "$place" "$place"/built/*.whl
    files=("$place"/*.whl)
    wheel=${files[0]}
    [[ $wheel == *"-manylinux_${oldest_glibc/./_}_$architecture.whl" ]] || die "the wheel is not for glibc $oldest_glibc: ${wheel##*/}"
    rm -rf "$place/unpacked"
    "$python" -m zipfile -e "$wheel" "$place/unpacked"
    check_glibc "$place"/unpacked/weft/*.so
    packaging/try_wheel.sh "$wheel" "$cmake" "$root" "$deps"
}

# command_wheel [aarch64]: for this machine, tried as a stranger has it, with nothing but the wheel and what it asks for; or for
# Linux on AArch64, by Debian's cross compiler, to be tried by `./dev release`.
command_wheel() {
    [[ ${1:-aarch64} == aarch64 ]] || die "./dev wheel builds for this machine, ./dev wheel aarch64 for that; '$1' is neither"
    setup_build zlib1g-dev
    setup_python requirements-wheel.txt
    build_shaders
    if [[ ${1:-} == aarch64 ]]; then
        wheel_aarch64
    else
        wheel_libraries "wheel-$(uname -m)"
        PKG_CONFIG_PATH="$deps/wheel-$(uname -m)/lib/pkgconfig" make_wheel wheel "$(uname -m)" gcc WEFT_BUILD_KERNELS=ON
        python_environment build/wheel/env api/python/requirements-run.txt
        build/wheel/env/bin/python -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
        env -u PYTHONPATH build/wheel/env/bin/python api/python/tests/try_wheel.py
        build/wheel/env/bin/weft devices
        python_environment build/wheel/env-beside api/python/requirements-beside.txt
        build/wheel/env-beside/bin/python -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
        env -u PYTHONPATH build/wheel/env-beside/bin/python api/python/tests/try_neighbours.py numba
    fi
    say "the wheel, $(du -h "$wheel" | cut -f 1)B: $wheel"
}

# command_archive: the command, the library and the compiler for a Linux with nothing else, in one folder that may lie anywhere.
command_archive() {
    local version name place=$root/build/archive prefix files archive
    version=$(project_version)
    name=weft-$version-linux-$(uname -m)
    prefix=$place/$name
    setup_build zlib1g-dev
    find_python
    build_shaders
    wheel_libraries "wheel-$(uname -m)"
    rm -rf "$place"
    python=python3 older_glibc "$place/glibc" gcc
    # shellcheck disable=SC2016 # the dynamic linker's name
    env PKG_CONFIG_PATH="$deps/wheel-$(uname -m)/lib/pkgconfig" SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
        "$cmake" -G Ninja -S . -B "$place/cmake" "${ninja_options[@]}" "${older_glibc_options[@]/#/-D}" "$shaders_option" \
        -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DWEFT_LLVM=BUNDLED -DWEFT_BUILD_KERNELS=ON -DWEFT_BUILD_TESTS=OFF \
        -DWEFT_BUILD_EXAMPLES=OFF \
        -DCMAKE_INSTALL_LIBDIR=lib '-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib' >/dev/null
    build_tree "$place/cmake" --parallel "$jobs"
    "$cmake" --install "$place/cmake" --strip --prefix "$prefix" >/dev/null
    files=$(find "$prefix/bin" "$prefix/lib" -type f \( -name weft -o -name '*.so*' \) | sort | paste -s -d ';')
    "$cmake" -DREADELF=readelf "-DFILES=$files" "-DTREES=$root;$deps" -P tests/packaging/hardening.cmake
    check_glibc "$prefix/bin/weft" "$prefix"/lib/*.so
    archive=$place/$name.tar.gz
    tar -c -C "$place" --sort=name --owner=0 --group=0 --numeric-owner --mode=go+u,go-w "--mtime=@$(git log -1 --format=%ct)" "$name" |
        gzip -9n >"$archive"
    say "the archive, $(du -h "$archive" | cut -f 1)B: $archive"
}

# The Conan package of packaging/conan, from the system's libraries alone: no remote is asked.
package_conan() {
    setup_build
    find_cmake
    local environment=$root/build/conan-env vkfft=$deps/vkfft/usr/include
    local options=(-c "tools.build:jobs=$jobs" -c "tools.cmake.cmake_layout:test_folder=$root/build/package-conan/test")
    python_environment "$environment" packaging/conan/requirements.txt
    vkfft=${VKFFT_INCLUDE_DIR:-$vkfft}
    vkfft_is_new_enough "$vkfft" && options+=(-o "weft/*:vkfft=$vkfft")
    export CONAN_HOME=$root/build/package-conan PATH=${cmake%/*}:$PATH
    rm -rf "$CONAN_HOME"
    "$environment/bin/conan" profile detect
    "$environment/bin/conan" create packaging/conan --no-remote "${options[@]}"
}

# The Debian packages of packaging/debian, from what is or could be committed here, for Debian 12 and those after it. So they have inside what
# wheels have: libzip, utf8proc and LLVM have other names in each release. VkFFT may be one that setup unpacked: it is then the one build
# dependency that dpkg does not know, and is named.
command_package() {
    case ${1:-} in
    conan)
        package_conan
        return
        ;;
    '') ;;
    *) die "./dev package builds Debian packages, ./dev package conan the Conan package; '$1' is neither" ;;
    esac
    setup_build "${debian_packages[@]}"
    build_shaders
    wheel_libraries "wheel-$(uname -m)"
    WEFT_COMMIT=$(git rev-parse --short=12 HEAD)
    WEFT_COMPILED_SHADERS=$root/build/shaders
    PKG_CONFIG_PATH=$deps/wheel-$(uname -m)/lib/pkgconfig
    export WEFT_COMMIT WEFT_COMPILED_SHADERS PKG_CONFIG_PATH
    local version place=$root/build/package source vkfft missing
    version=$(project_version)
    source=$place/weft-$version
    rm -rf "$place"
    mkdir -p "$source"
    git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$source"
    cp -R packaging/debian "$source/debian"
    [[ $(cd "$source" && dpkg-parsechangelog -S Version) == "$version"-* ]] ||
        die "packaging/debian/changelog is of another version than $version"
    local options=(-us -uc -b)
    for vkfft in "${VKFFT_INCLUDE_DIR:-}" "$deps/vkfft/usr/include"; do
        vkfft_is_new_enough "$vkfft" || continue
        missing=$( (cd "$source" && dpkg-checkbuilddeps) 2>&1 | sed 's/.*Unmet build dependencies: //' || true)
        [[ -z $missing || $missing == 'libvkfft-dev (>= 1.3)' ]] ||
            die "packaging/debian/control asks for what ./dev does not install: $missing"
        options+=(-d)
        export VKFFT_INCLUDE_DIR=$vkfft
        break
    done
    say "building the packages; the log is build/package/build.log"
    (cd "$source" && env PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS="parallel=$jobs noautodbgsym ${DEB_BUILD_OPTIONS:-}" \
        dpkg-buildpackage "${options[@]}") \
        >"$place/build.log" 2>&1 || { tail -n 40 "$place/build.log"; die "the packages could not be built (see build/package/build.log)"; }
    lintian --allow-root --fail-on error,warning --display-info "$place"/*.changes || die "lintian found errors or warnings in the packages (see above)"
    packaging/try_debian.sh "$place"
    say "the packages:" && ls -sh "$place"/*.deb
}
