# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# Read by the trials, which set $tree. use COMMAND...: what a stranger does first with the command, on the processor device: its devices, a few cases
# in both modes that have the same bits everywhere, and a model. What is compared with is in the source archive, $tree.

use() {
    "$@" --version
    "$@" devices
    "$@" verify --device processor --list "$tree/packaging/trials/cases.txt" --bits "$tree/tests/data/bits"
    "$@" verify --device processor --list "$tree/packaging/trials/cases.txt" --bits "$tree/tests/data/bits-fused" --math fused
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
