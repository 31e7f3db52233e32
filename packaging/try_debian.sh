#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# try_debian.sh FOLDER: unpacks the Debian packages in a folder and uses them from there, on the processor device: the command, a
# program in C and in C++ by pkg-config and by CMake, and Python. Prints what does not work and fails.
set -euo pipefail

packages=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$packages/unpacked
work=$packages/tried
rm -rf "$root" "$work"
mkdir -p "$root" "$work"
for package in "$packages"/*.deb; do
    [[ $package == *-dbgsym_* ]] || dpkg-deb -x "$package" "$root"
done
libraries=$(dirname "$(find "$root" -name 'libweft.so.0.1')")
export LD_LIBRARY_PATH=$libraries WEFT_PROCESSOR=1

expect() {
    local what=$1 wanted=$2
    shift 2
    local got
    if ! got=$("$@") || [[ $got != *"$wanted"* ]]; then
        printf '%s: "%s" printed "%s", expected "%s"\n' "$what" "$*" "${got:-}" "$wanted" >&2
        exit 1
    fi
    printf 'packages: %s works\n' "$what"
}

expect 'the command' 'vi ' "$root/usr/bin/weft" run "$source/api/examples/models/langid" --device processor --no-cache \
    --file "$source/api/examples/models/langid/samples/vi.txt" --top 3
expect 'the man page' 'weft' zcat "$root/usr/share/man/man1/weft.1.gz"
[[ -f $root/usr/share/bash-completion/completions/weft && -f $root/usr/share/zsh/vendor-completions/_weft ]]

for package in libweft0.1 libweft-dev weft python3-weft; do
    expect "$package's notices" 'VkFFT (MIT)' zcat -f "$root/usr/share/doc/$package/THIRD-PARTY-NOTICES.txt"*
    expect "$package's parts" 'CycloneDX' zcat -f "$root/usr/share/doc/$package/weft.cdx.json"*
done
module=$(find "$root" -type f -name '_native*.so')
compiler=$(find "$root" -name 'libweft-llvm-*.so')
expect 'hardening' '' cmake -DREADELF=readelf "-DFILES=$libraries/libweft.so.0.1;$root/usr/bin/weft;$module;$compiler" "-DTREES=$source;$packages" \
    -P "$source/tests/packaging/hardening.cmake"

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags < <(pkg-config --cflags --libs weft)
gcc -std=c11 "$source/api/examples/quickstart.c" -o "$work/c" "${flags[@]}" -lm
g++ -std=c++17 "$source/api/examples/quickstart.cpp" -o "$work/cxx" "${flags[@]}"
expect 'C by pkg-config' 'y[0] = ' "$work/c"
expect 'C++ by pkg-config' "$("$work/c")" "$work/cxx"

cmake -S "$source/tests/packaging/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$root/usr" -DWEFT_WITH_CXX=ON >/dev/null
cmake --build "$work/cmake" >/dev/null
expect 'C++ by CMake' 'WEFT_OK' "$work/cmake/consumer_cxx"

python=("env" "PYTHONPATH=$root/usr/lib/python3/dist-packages" /usr/bin/python3)
expect 'Python' 'vi' "${python[@]}" -c "
import weft
model = weft.load('$source/api/examples/models/langid')
print(model(open('$source/api/examples/models/langid/samples/vi.txt').read()))"
