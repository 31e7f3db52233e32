# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# What is handed out: the wheel, the Debian packages, the Conan package.

# What a wheel has compiled in, since Debian alone has it. Debian's libzip would bring OpenSSL's cryptography, a quarter of the wheel.
# wheel_libraries FOLDER [CMAKE OPTION...]
wheel_libraries() {
    local library
    for library in jansson libzip utf8proc; do
        "build_$library" "$1" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DCMAKE_C_FLAGS="-fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$deps=deps" "${@:2}"
    done
}

# make_wheel PLACE ARCHITECTURE [CONFIG SETTING...]: the package's wheel, $wheel, below build/PLACE. auditwheel names it after the C
# library that the module needs: glibc 2.34, in which Debian 12's has its threads.
make_wheel() {
    local place=build/$1 architecture=$2 setting settings=() files
    shift 2
    for setting in "build-dir=$root/$place/cmake" "cmake.define.${shaders_option#-D}" "$@"; do
        settings+=(--config-settings "$setting")
    done
    rm -rf "$place"
    env CMAKE_EXECUTABLE="$cmake" SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
        "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$place/built" \
        "${settings[@]}" api/python
    env PATH="$(dirname "$python"):$PATH" SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
        "$python" -m auditwheel repair --wheel-dir "$place" "$place"/built/*.whl
    files=("$place"/*.whl)
    wheel=${files[0]}
    [[ $wheel == *"-manylinux_2_34_$architecture.whl" ]] || die "the wheel is not for glibc 2.34: ${wheel##*/}"
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
        PKG_CONFIG_PATH="$deps/wheel-$(uname -m)/lib/pkgconfig" make_wheel wheel "$(uname -m)" \
            cmake.define.WEFT_BUILD_KERNELS=ON
        python_environment build/wheel/env api/python/requirements-run.txt
        build/wheel/env/bin/python -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
        env -u PYTHONPATH build/wheel/env/bin/python api/python/tests/try_wheel.py
        build/wheel/env/bin/weft devices
    fi
    say "the wheel, $(du -h "$wheel" | cut -f 1)B: $wheel"
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

# The Debian packages of packaging/debian, from what is or could be committed here. VkFFT may be one that setup unpacked: it is then
# the one build dependency that dpkg does not know, and is named.
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
    WEFT_COMMIT=$(git rev-parse --short=12 HEAD)
    export WEFT_COMMIT
    local version place=$root/build/package source vkfft missing
    version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
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
