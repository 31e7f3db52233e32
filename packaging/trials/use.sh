# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# Read by the trials, which set $tree to the source archive's tree: it has what the answers are compared with. All is done on the
# processor device.

# as_typed PART: runs the lines by which packaging/install.txt installs a part.
as_typed() {
    awk -v part="@$1" '/^@/ { here = $0 == part } here && sub(/^    /, "")' "$tree/packaging/install.txt" >"$1.sh"
    [ -s "$1.sh" ]
    sh -eux "$1.sh"
}

# use COMMAND...: what a stranger does first with the command: its devices, a few cases, and a model.
use() {
    "$@" --version
    use_cases "$@"
    use_model "$@"
}

# use_cases COMMAND...: in both modes that have the same bits everywhere.
use_cases() {
    "$@" devices
    "$@" verify --device processor --list "$tree/packaging/trials/cases.txt" --bits "$tree/tests/data/bits"
    "$@" verify --device processor --list "$tree/packaging/trials/cases.txt" --bits "$tree/tests/data/bits" --math fused
}

# use_kernels MATH DEVICE COMMAND...: every kernel once.
use_kernels() {
    math=$1 device=$2
    shift 2
    grep '^[^#].* kernels' "$tree/tests/data/cases.txt" | sed 's/ .*//' >kernels.txt
    "$@" verify --device "$device" --math "$math" --list kernels.txt --bits "$tree/tests/data/bits"
}

# use_compiled COMMAND...: the processor device has its compiler where no package brings one.
use_compiled() {
    set -- "$@" devices
    case $("$@") in
    *interpret*)
        "$@"
        echo 'expected a processor device with a compiler' >&2
        return 1
        ;;
    esac
}

# use_shipped COMMAND...: it comes with kernels, and langid's first run compiles nothing, nor any run without a home.
use_shipped() {
    set -- "$@" run "$tree/api/examples/models/langid" --device processor --json --file "$tree/api/examples/models/langid/samples/vi.txt"
    expect '"pipelines_compiled": 0' env XDG_CACHE_HOME="$PWD/empty" "$@"
    expect '"pipelines_compiled": 0' env -u XDG_CACHE_HOME -u HOME "$@"
}

use_model() {
    expect 'vi ' "$@" run "$tree/api/examples/models/langid" --device processor --file "$tree/api/examples/models/langid/samples/vi.txt"
}

# expect TEXT COMMAND...: what the command prints is to have the text in it.
expect() {
    wanted=$1
    shift
    got=$("$@")
    printf '%s\n' "$got"
    case $got in
    *"$wanted"*) ;;
    *)
        printf 'expected "%s" of %s\n' "$wanted" "$*" >&2
        return 1
        ;;
    esac
}

# quietly COMMAND...: what it prints is shown where it fails.
quietly() { "$@" >log 2>&1 || { tail -n 40 log && return 1; }; }
