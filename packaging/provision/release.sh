# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2016,SC2154 # read by ./dev, which has the names that are not set here; hooks have their own $1
#
# A release: everything that is handed out, made of one commit, and each part tried where nothing of its making is.

release_packages=(mmdebstrap)
release=$root/build/release

# in_empty_debian PACKAGE,... FILE... -- COMMAND: runs a shell command in /root of a new Debian, with nothing but its smallest
# set and these packages, and with these files there. It is gone afterwards.
in_empty_debian() {
    local packages=$1 hooks=()
    shift
    while [[ $1 != -- ]]; do
        hooks+=("--customize-hook=copy-in '$1' /root")
        shift
    done
    hooks+=("--customize-hook=chroot \"\$1\" sh -ec 'cd /root; $2'")
    cat "$deps"/apt/sources.d/weft.* |
        mmdebstrap --quiet --variant=minbase --format=null "--include=$packages" "${hooks[@]}" "$(codename)" - -
}

# As a stranger has them: no compiler, no tree, no cache.
try_release() {
    local version=$1 out=$2 model="weft-$1/api/examples/models/langid"
    local source=$out/weft-$version.tar.gz unpack="tar xf weft-$version.tar.gz" wheels=$release/wheels
    say "trying the wheel"
    "$release/tree/build/python-env/bin/python" -m pip download --quiet --disable-pip-version-check --require-hashes \
        --dest "$wheels" --requirement "$release/tree/api/python/requirements-run.txt"
    in_empty_debian python3,python3-venv "$source" "$wheels" "$out"/*.whl -- \
        "$unpack; python3 -m venv v; v/bin/pip install -q --no-index --find-links wheels ./*.whl
         v/bin/python weft-$version/api/python/tests/try_wheel.py; v/bin/weft --version"
    say "trying the Debian packages"
    in_empty_debian ca-certificates "$source" "$out"/*.deb -- \
        "$unpack; apt-get -q -y -o APT::Install-Recommends=true install ./*.deb >apt.log; weft --version; weft devices
         weft run $model --file $model/samples/vi.txt --top 1
         python3 -c \"import weft; print(weft.load(\\\"$model\\\")(open(\\\"$model/samples/vi.txt\\\").read()))\""
    say "trying the source, as FetchContent has it"
    in_empty_debian "$(IFS=, && echo "${build_packages[*]}")" "$source" "$deps/vkfft/usr/include" -- \
        "$unpack; cmake -G Ninja -S weft-$version/tests/packaging/consumer -B b -DWEFT_WAY=fetch_content \
             -DWEFT_SOURCE=/root/weft-$version -DVKFFT_INCLUDE_DIR=/root/include >configure.log; cmake --build b >build.log; b/consumer_c"
}

# command_release [COMMIT]: of the tag of this version, or, as a rehearsal, of any commit. What two runs make has the same bytes.
command_release() {
    local version commit tree=$release/tree out=$release/out
    version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    commit=$(git rev-parse --quiet --verify "${1:-v$version}^{commit}") ||
        die "there is no ${1:-tag v$version}; \`./dev release HEAD\` rehearses one"
    setup_build "${debian_packages[@]}" "${release_packages[@]}"
    update_private_lists || die "Debian's archive is not known here"
    [[ -d $tree ]] && git worktree remove --force "$tree"
    rm -rf "$release"
    mkdir -p "$out"
    git worktree add --quiet --detach "$tree" "$commit"
    mkdir "$tree/build"
    ln -s "$deps" "$tree/build/deps"
    git archive --format=tar --prefix="weft-$version/" "$commit" | gzip -9n >"$out/weft-$version.tar.gz"
    (cd "$tree" && ./dev wheel && ./dev package)
    cp "$tree"/build/wheel/*.whl "$tree"/build/package/*.deb "$tree/THIRD-PARTY-NOTICES.txt" "$out"
    cp "$tree"/build/wheel/cmake/weft.cdx.json "$out"
    (cd "$out" && sha256sum -- * >SHA256SUMS)
    try_release "$version" "$out"
    git worktree remove --force "$tree"
    say "the release of ${commit:0:12}: $out" && cat "$out/SHA256SUMS"
}
