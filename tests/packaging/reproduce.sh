#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reproduce.sh SOURCE WORK VKFFT CMAKE [CONFIGURE OPTION...]: builds libweft.so and the command twice, in folders of other names and
# depths, once inside the sources and once beside them, with other locales, zones, masks, homes and numbers of jobs, and installs
# both. Fails unless all that is installed is the same to the byte.
set -euo pipefail

source=$1 work=$2 vkfft=$3 cmake=$4
shift 4
export CCACHE_DISABLE=1
unset SOURCE_DATE_EPOCH MAKEFLAGS
rm -rf "$work"

# build SOURCES BUILD PREFIX JOBS [CONFIGURE OPTION...]: with debug information, which has paths in it, too.
build() {
    local sources=$1 folder=$2 prefix=$3 jobs=$4
    shift 4
    mkdir -p "$sources" "$work/home-$jobs"
    tar -c -C "$source" --exclude=./build --exclude=./.git . | tar -x -C "$sources"
    (
        export HOME=$work/home-$jobs
        "$cmake" -S "$sources" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=ON -DWEFT_BUILD_TESTS=OFF \
            -DWEFT_BUILD_EXAMPLES=OFF "-DVKFFT_INCLUDE_DIR=$vkfft" "$@"
        "$cmake" --build "$folder" --parallel "$jobs" --target weft-cli
        "$cmake" --install "$folder" --prefix "$prefix"
    ) >"$prefix.log" 2>&1 || { tail -n 20 "$prefix.log" >&2; exit 1; }
}

# shellcheck disable=SC2030,SC2031 # each in a shell of its own
(
    export LC_ALL=C TZ=UTC
    umask 022
    build "$work/a" "$work/a/build" "$work/first" 2 "$@"
)
# shellcheck disable=SC2030,SC2031
(
    export LC_ALL=C.UTF-8 LANGUAGE=de TZ=Asia/Kathmandu
    umask 027
    build "$work/of another/name than.the-first" "$work/built beside them" "$work/second" 3 "$@"
)

files=0
while IFS= read -r -d '' file; do
    cmp "$work/first/$file" "$work/second/$file"
    files=$((files + 1))
done < <(cd "$work/first" && find . -type f -print0)
[[ $(cd "$work/first" && find . | sort) == "$(cd "$work/second" && find . | sort)" ]]
[[ -f $work/first/bin/weft && $files -gt 20 ]]
sha256sum "$work"/first/bin/weft "$work"/first/lib*/libweft.so.*.*.*
printf 'reproduce: %d installed files are the same\n' "$files"
rm -rf "$work"
