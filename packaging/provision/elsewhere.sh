# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # read by ./dev, which has the names that are not set here
#
# Newer Debians than this one: what is handed out in roots that have nothing else; the source, with that release's compilers and LLVM; and its
# Vulkan and OpenCL drivers and validation layers (packaging/trials).

elsewhere_suites=(trixie sid)
elsewhere_parts=(wheel archive debian source drivers)

# Beside what docs/programming.md lists: drivers, and what a test needs.
elsewhere_packages=(ccache libcmocka-dev rapidjson-dev mesa-vulkan-drivers mesa-opencl-icd pocl-opencl-icd ocl-icd-libopencl1 vulkan-validationlayers)

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
    in_root "$new_root" wheel "$source" build/elsewhere/wheels "${wheels[0]}"
}

elsewhere_archive() {
    local archives=(build/archive/*.tar.gz)
    [[ -f ${archives[0]} ]] || command_archive
    make_root "$1" plain ca-certificates
    in_root "$new_root" archive "$source" build/archive/*.tar.gz
}

elsewhere_debian() {
    local packages=(build/package/*.deb)
    [[ -f ${packages[0]} ]] || command_package
    make_root "$1" plain ca-certificates
    in_root "$new_root" debian "$source" build/package/*.deb
}

# The root of source and drivers.
make_whole_root() {
    local names
    names=$(prerequisites | sed 's|/[a-z]*-backports||; s/llvm-15-dev/llvm-dev,clang/')
    IFS=, read -ra names <<<"$names"
    make_root "$1" whole "${names[@]}" "${elsewhere_packages[@]}"
}

elsewhere_source() {
    make_whole_root "$1"
    in_root "$new_root" newer "$source"
}

elsewhere_driver_trials() {
    make_whole_root "$1"
    [[ -x build/trials/$1-whole/kept/weft/weft ]] || in_root "$new_root" newer "$source"
    in_root "$new_root" drivers "$source"
}

# command_elsewhere [--only PART,...] [SUITE ...]
command_elsewhere() {
    local parts=("${elsewhere_parts[@]}") suite part version source failed=()
    if [[ ${1:-} == --only ]]; then
        IFS=, read -ra parts <<<"${2:?takes names of parts}"
        shift 2
    fi
    (($# > 0)) || set -- "${elsewhere_suites[@]}"
    ((EUID == 0)) || die "./dev elsewhere mounts and changes roots: run it as root"
    setup_build
    version=$(project_version)
    source=$root/build/elsewhere/weft-$version.tar.gz
    mkdir -p build/elsewhere
    git ls-files -z --cached --others --exclude-standard |
        tar -cz --null --ignore-failed-read "--transform=s,^,weft-$version/," -f "$source" -T -
    for suite in "$@"; do
        for part in "${parts[@]}"; do
            step "$part in $suite"
            case $part in
            wheel) (elsewhere_wheel "$suite") ;;
            archive) (elsewhere_archive "$suite") ;;
            debian) (elsewhere_debian "$suite") ;;
            source) (elsewhere_source "$suite") ;;
            drivers) (elsewhere_driver_trials "$suite") ;;
            *) die "./dev elsewhere knows ${elsewhere_parts[*]}, not $part" ;;
            esac || failed+=("$part in $suite")
        done
    done
    ((${#failed[@]} == 0)) || die "failed: $(printf '%s; ' "${failed[@]}")"
}
