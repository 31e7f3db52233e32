# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # read by ./dev, which has the names that are not set here
#
# A release: everything that is handed out, made of one commit, and each part tried where nothing of its making is
# (packaging/trials), as INSTALL.txt says.

release_parts=(source wheel aarch64 archive static debian)
release=$root/build/release

# fetch_wheels [PIP OPTION...]: what the wheel asks for, for Debian's Python, in $release/wheels.
fetch_wheels() {
    (PATH=/usr/bin:$PATH python_environment "$release/env" api/python/requirements-run.txt)
    rm -rf "$release/wheels"
    "$release/env/bin/python" -m pip download --quiet --disable-pip-version-check --require-hashes --only-binary=:all: \
        --dest "$release/wheels" --requirement api/python/requirements-run.txt "$@"
}

# The packages in the table of docs/programming.md, section "What a build needs", with commas between them.
prerequisites() {
    sed -n '/^## What a build needs/,/^## A/s/^|.*| \(`[^|]*\) |$/\1/p' docs/programming.md |
        sed "/dev setup/d; s/^\`libvkfft-dev\`.*/libvkfft-dev\/$(codename)-backports/" | tr -d '`' | tr ' ' '\n' | paste -s -d ,
}

# release_root NAME PACKAGE,...: $new_root, of this release of Debian.
release_root() {
    local names
    IFS=, read -ra names <<<"$2"
    make_root "$(codename)" "$1" "${names[@]}"
}

try_source() {
    release_root source "$(prerequisites)"
    in_root "$new_root" source "$source"
}

try_wheel() {
    fetch_wheels
    release_root python python3,python3-venv
    in_root "$new_root" wheel "$source" "$release/wheels" "$out"/*_"$(uname -m)".whl
}

try_archive() {
    release_root plain ca-certificates
    in_root "$new_root" archive "$source" "$out"/*-linux-"$(uname -m)".tar.gz
}

try_debian() {
    release_root plain ca-certificates
    in_root "$new_root" debian "$source" "$out"/*.deb
}

try_static() {
    write_kernel_list
    packaging/try_static.sh "$out"/*-linux-"$(uname -m)"-static.tar.gz build/kernels.txt
    setup_static_qemu
    packaging/try_static.sh "$out"/*-linux-aarch64-static.tar.gz '' '' "$deps/qemu/usr/bin/qemu-aarch64-static"
}

# The packages' own scripts would have to run by QEMU: these are only unpacked.
try_aarch64() {
    # shellcheck disable=SC2034 # make_root reads it
    local root_options=(--variant=extract --architectures=arm64) qemu=$deps/qemu/usr/bin/qemu-aarch64-static
    fetch_wheels --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64
    setup_static_qemu
    release_root arm64 python3,python3-pip-whl,libstdc++6 # NumPy needs it, and so does apt, which is not there
    say "trying: aarch64"
    in_copy "$new_root" "$source" "$qemu" "$release/wheels" "$out"/*_aarch64.whl -- packaging/trials/aarch64.sh "$version"
}

# make_release TREE OUT: makes the source archive and $parts of $commit in a new work tree, from nothing that was built before.
make_release() {
    local tree=$1 out=$2 part entry
    umask 022
    mkdir -p "$out"
    git worktree add --quiet --detach "$tree" "$commit"
    mkdir -p "$tree/build/deps"
    for entry in "$deps"/*; do # what was fetched, not what was compiled for wheels
        [[ ${entry##*/} == wheel-* ]] || ln -s "$entry" "$tree/build/deps"
    done
    cp "$tree/THIRD-PARTY-NOTICES.txt" "$out"
    awk -v parts=" source ${parts[*]} " -v version="$version" \
        '/^@/ { left_out = !index(parts, " " substr($0, 2) " "); next } !left_out { gsub(/VERSION/, version); print }' \
        "$tree/packaging/install.txt" >"$out/INSTALL.txt"
    git -c tar.umask=0022 archive --format=tar --prefix="weft-$version/" "$commit" | gzip -9n >"$out/weft-$version.tar.gz"
    for part in "${parts[@]}"; do
        say "making: $part"
        case $part in
        wheel)
            (cd "$tree" && ./dev wheel)
            cp "$tree"/build/wheel/*.whl "$tree/build/wheel/cmake/weft.cdx.json" "$out"
            ;;
        aarch64)
            (cd "$tree" && ./dev wheel aarch64)
            cp "$tree"/build/wheel-aarch64/*.whl "$out"
            ;;
        archive)
            (cd "$tree" && ./dev archive)
            cp "$tree"/build/archive/*.tar.gz "$out"
            ;;
        static)
            (cd "$tree" && ./dev static && ./dev static aarch64)
            cp "$tree"/build/static*/*.tar.gz "$out"
            ;;
        debian)
            (cd "$tree" && ./dev package)
            cp "$tree"/build/package/*.deb "$out"
            ;;
        esac
    done
    (cd "$out" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum) >"$out.sums"
    mv "$out.sums" "$out/SHA256SUMS"
    git worktree remove --force "$tree"
}

# command_release [--twice] [--only PART,...] [COMMIT]: of the tag of this version, or, as a rehearsal, of any commit.
command_release() {
    local twice=0 parts=("${release_parts[@]}") part version commit out=$release/out source
    while [[ ${1:-} == --* ]]; do
        case $1 in
        --twice) twice=1 ;;
        --only)
            IFS=, read -ra parts <<<"${2:?takes names of parts}"
            shift
            ;;
        *) die "./dev release knows --twice and --only, not $1" ;;
        esac
        shift
    done
    for part in "${parts[@]}"; do
        [[ " ${release_parts[*]} " == *" $part "* ]] || die "no part of a release is called $part (there are: ${release_parts[*]})"
    done
    [[ $(uname -m) == x86_64 ]] || die "a release is made on x86-64"
    version=$(project_version)
    source=$out/weft-$version.tar.gz
    commit=$(git rev-parse --quiet --verify "${1:-v$version}^{commit}") ||
        die "there is no ${1:-tag v$version}; \`./dev release HEAD\` rehearses one"
    setup_build "${debian_packages[@]}"
    update_private_lists || die "Debian's archive is not known here"
    rm -rf "$release"
    git worktree prune
    (make_release "$release/tree" "$out")
    if ((twice)); then
        say "making all of it again, elsewhere, with another zone and without compiled objects kept"
        (
            umask 077
            export CCACHE_DISABLE=1 TZ=Asia/Kathmandu LC_ALL=C.UTF-8
            make_release "$release/made/again/elsewhere" "$release/again"
        )
        diff "$out/SHA256SUMS" "$release/again/SHA256SUMS" || die "two runs differ (see above): $out, $release/again"
        say "both have the same bytes"
    fi
    for part in "${parts[@]}"; do
        "try_$part"
    done
    [[ ${parts[*]} == "${release_parts[*]}" ]] || note "made ${parts[*]} alone, of ${release_parts[*]}"
    say "the release of ${commit:0:12}: $out" && cat "$out/SHA256SUMS"
}
