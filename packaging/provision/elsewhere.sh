# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # read by ./dev, which has the names that are not set here
#
# Newer Debians than this one, in roots of their own, build/deps/roots: the wheel in one with Python alone; the source, with
# that release's compilers and LLVM; and its Vulkan and OpenCL drivers and validation layers (packaging/trials).

elsewhere_suites=(trixie sid)
elsewhere_parts=(wheel source drivers)

# Beside what docs/programming.md lists: drivers, and what a test needs.
elsewhere_packages=(libcmocka-dev rapidjson-dev mesa-vulkan-drivers mesa-opencl-icd pocl-opencl-icd ocl-icd-libopencl1 vulkan-validationlayers)

# make_root SUITE NAME PACKAGE...: $new_root, a Debian with its smallest set and these packages, kept until other ones are asked for.
make_root() {
    local suite=$1 sources=$deps/roots/$1.d
    new_root=$deps/roots/$1-$2
    shift 2
    [[ -f $new_root/packages && $(<"$new_root/packages") == "$*" ]] && return 0
    install_packages mmdebstrap
    if ! update_private_lists || ! write_sources_of "$suite" "$sources"; then
        die "Debian's archive is not known here"
    fi
    say "making a root of $suite with: $*"
    rm -rf "$new_root.partial" "$new_root"
    # The lists of a mirror that lags behind are out of date by their own word; they are signed all the same.
    cat "$sources"/* | mmdebstrap --quiet --variant=minbase --format=dir --dpkgopt=force-unsafe-io \
        --aptopt='Acquire::Check-Valid-Until "false"' "--include=$(printf '%s\n' "$@" | paste -s -d ,)" "$suite" "$new_root.partial" - ||
        die "a root of $suite could not be made (see above)"
    printf '%s' "$*" >"$new_root.partial/packages"
    mv "$new_root.partial" "$new_root"
}

# in_root ROOT TRIAL FILE...: runs packaging/trials/TRIAL.sh in a new /root of it, with these files and nothing of our environment.
in_root() {
    local folder=$1 trial=$2
    shift 2
    rm -rf "$folder/root"
    mkdir -p "$folder/root"
    cp -R "packaging/trials/$trial.sh" "$@" "$folder/root"
    say "trying: $trial in $(<"$folder/etc/debian_version")"
    # shellcheck disable=SC2016 # the inner shell has its own $1
    unshare --mount sh -euc '
        for place in proc dev sys; do mount --rbind "/$place" "$1/$place"; done
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "JOBS=$4" sh -c "cd /root && exec sh ./$2.sh $3"
    ' in_root "$folder" "$trial" "$version" "$jobs"
}

# The wheel of build/wheel, and what it asks for, for that root's Python.
elsewhere_wheel() {
    local suite=$1 wheels=(build/wheel/*.whl) interpreter
    [[ -f ${wheels[0]} ]] || command_wheel
    wheels=(build/wheel/*.whl)
    make_root "$suite" python python3 python3-venv
    interpreter=$(readlink "$new_root/usr/bin/python3")
    find_python
    (python_environment "$root/build/elsewhere/env" api/python/requirements-wheel.txt)
    rm -rf build/elsewhere/wheels
    build/elsewhere/env/bin/python -m pip download --quiet --disable-pip-version-check --require-hashes --only-binary=:all: \
        --python-version "${interpreter#python}" --dest build/elsewhere/wheels --requirement api/python/requirements-run.txt ||
        die "pip has nothing of requirements-run.txt for $interpreter"
    in_root "$new_root" wheel "$archive" build/elsewhere/wheels "${wheels[0]}"
}

# The root of source and drivers: what was built is in its /root.
elsewhere_source() {
    local names
    names=$(prerequisites | sed 's|/[a-z]*-backports||; s/llvm-15-dev/llvm-dev,clang/')
    IFS=, read -ra names <<<"$names"
    make_root "$1" whole "${names[@]}" "${elsewhere_packages[@]}"
    in_root "$new_root" newer "$archive"
}

elsewhere_driver_trials() {
    [[ -x $deps/roots/$1-whole/opt/weft/weft ]] || elsewhere_source "$1"
    in_root "$deps/roots/$1-whole" drivers "$archive"
}

# command_elsewhere [--only PART,...] [SUITE ...]
command_elsewhere() {
    local parts=("${elsewhere_parts[@]}") suite part version archive failed=()
    if [[ ${1:-} == --only ]]; then
        IFS=, read -ra parts <<<"${2:?takes names of parts}"
        shift 2
    fi
    (($# > 0)) || set -- "${elsewhere_suites[@]}"
    ((EUID == 0)) || die "./dev elsewhere mounts and changes roots: run it as root"
    setup_build
    version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    archive=$root/build/elsewhere/weft-$version.tar.gz
    mkdir -p build/elsewhere
    git ls-files -z --cached --others --exclude-standard |
        tar -cz --null --ignore-failed-read "--transform=s,^,weft-$version/," -f "$archive" -T -
    for suite in "$@"; do
        for part in "${parts[@]}"; do
            step "$part in $suite"
            case $part in
            wheel) (elsewhere_wheel "$suite") ;;
            source) (elsewhere_source "$suite") ;;
            drivers) (elsewhere_driver_trials "$suite") ;;
            *) die "./dev elsewhere knows ${elsewhere_parts[*]}, not $part" ;;
            esac || failed+=("$part in $suite")
        done
    done
    ((${#failed[@]} == 0)) || die "failed: $(printf '%s; ' "${failed[@]}")"
}
