# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# Read by the trials, which set $tree to the source archive's tree: it has what the answers are compared with. All is done on the
# processor device.

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
