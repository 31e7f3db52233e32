# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # read by ./dev, which has the names that are not set here
#
# The static command: one file for servers that have nothing, for the processor device alone (cmake/WeftStatic.cmake).

static_limit=45000000 # bytes

# static_name ARCHITECTURE: of the archive, and of the folder in it.
static_name() { printf 'weft-%s-linux-%s-static' "$(project_version)" "$1"; }

# build_static PLACE NAME [CMAKE OPTION...]: the command, with licences, as build/PLACE/NAME.
build_static() {
    local place=$root/build/$1 name=$2 size
    shift 2
    rm -rf "$place"
    env SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" "$cmake" -G Ninja -S . -B "$place/cmake" "${ninja_options[@]}" "$shaders_option" \
        -DCMAKE_BUILD_TYPE=Release -DWEFT_STATIC=ON -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF "$@" >/dev/null
    build_tree "$place/cmake" --parallel "$jobs" --target weft-cli
    "$cmake" --install "$place/cmake" --strip --prefix "$place/$name" >/dev/null
    size=$(stat -c %s "$place/$name/weft")
    ((size <= static_limit)) || die "the static command has $size bytes, expected $static_limit at most"
}

# pack_static PLACE NAME: $archive, of the folder.
pack_static() {
    archive=$root/build/$1/$2.tar.gz
    tar -c -C "build/$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=go+u,go-w "--mtime=@$(git log -1 --format=%ct)" "$2" |
        gzip -9n >"$archive"
    say "the static command, $(du -h "build/$1/$2/weft" | cut -f 1)B, in an archive of $(du -h "$archive" | cut -f 1)B: $archive"
}

# static_model: sets model to the folder of all-MiniLM-L6-v2, where the environment of ./dev test all can fetch it, or to nothing.
static_model() {
    model=$deps/minilm/model
    [[ -d $model ]] && return 0
    mkdir -p "$deps/minilm"
    PYTHONPATH=api/python/tests "$python" -c 'import minilm, pathlib, sys; minilm.fetch(pathlib.Path(sys.argv[1]))' "$deps/minilm" \
        >"$deps/minilm/log" 2>&1 && return 0
    note "all-MiniLM-L6-v2 is not to be had here (log: build/deps/minilm/log): its hash is not tried"
    model=
}

# setup_static_qemu: build/deps/qemu, for roots without libraries.
setup_static_qemu() {
    [[ -x $deps/qemu/usr/bin/qemu-aarch64-static ]] && return 0
    update_private_lists || die "Debian's archive is not known here"
    unpack qemu-user-static "$(available_version qemu-user-static "$(codename)")" qemu ./usr/bin/qemu-aarch64-static
}

static_here() {
    local name libraries
    libraries=wheel-$(uname -m)
    name=$(static_name "$(uname -m)")
    wheel_libraries "$libraries"
    PKG_CONFIG_PATH=$deps/$libraries/lib/pkgconfig build_static static "$name"
    # Its symbols are in the file that is not stripped.
    "$cmake" -DREADELF=readelf "-DFILES=$root/build/static/cmake/weft" "-DTREES=$root;$deps" -P tests/packaging/hardening.cmake
    python3 packaging/kernels.py "build/static/$name/weft-kernels" "$root/build/static/$name/weft"
    pack_static static "$name"
    static_model
    write_kernel_list
    packaging/try_static.sh "$archive" build/kernels.txt "$model"
}

static_aarch64() {
    local name
    name=$(static_name aarch64)
    wheel_aarch64_libraries
    build_static static-aarch64 "$name" "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/toolchains/aarch64-linux-gnu.cmake" \
        "-DWEFT_KERNEL_HEADER=$root/build/kernel-header" "-DLLVM_DIR=$WEFT_TARGET_ROOT$(llvm_folder)/lib/cmake/llvm"
    pack_static static-aarch64 "$name"
    setup_static_qemu
    packaging/try_static.sh "$archive" '' '' "$deps/qemu/usr/bin/qemu-aarch64-static"
}

# command_static [aarch64]
command_static() {
    [[ ${1:-aarch64} == aarch64 ]] || die "./dev static builds for this machine, ./dev static aarch64 for that; '$1' is neither"
    setup_build zlib1g-dev
    find_python
    find_cmake
    find_ninja
    build_shaders
    if [[ ${1:-} == aarch64 ]]; then
        static_aarch64
    else
        static_here
    fi
}
