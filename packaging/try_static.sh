#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# try_static.sh ARCHIVE [LIST [MODEL [QEMU]]]: the static command in a root where nothing else is: no C library, no shell, no /proc, no
# /tmp. LIST: cases of weft verify; without it some are taken. MODEL: the folder of all-MiniLM-L6-v2. QEMU: a static one, for a command of
# another processor, by which LLVM takes half a minute for a kernel. Needs root, or namespaces of users.
set -euo pipefail

archive=$1 list=${2:-} model=${3:-} qemu=${4:-}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
name=$(basename "$archive" .tar.gz)
new=$place/root
mkdir -p "$new/home"
chmod 755 "$place" "$new"
tar -x -C "$new" -f "$archive"
cp -R "$source/api/examples/models/langid" "$source"/tests/data/bits* "$new"
cp "${list:-$source/packaging/trials/cases.txt}" "$new/list.txt"
[[ -z $model ]] || cp -R "$model" "$new/minilm"
run=("/$name/weft")
if [[ -n $qemu ]]; then
    cp "$qemu" "$new/qemu"
    run=(/qemu "${run[@]}")
fi
if ((EUID == 0)); then
    enter=(chroot)
    other=(chroot --userspec=65534:65534)
else
    enter=(unshare --map-root-user chroot)
    other=("${enter[@]}")
fi
langid=(-- run /langid --file /langid/samples/vi.txt)

# weft [NAME=VALUE ...] -- ARGUMENT...: the command alone in the root, with these in its environment and nothing else.
weft() {
    local environment=()
    while [[ $1 != -- ]]; do
        environment+=("$1")
        shift
    done
    shift
    env -i "${environment[@]}" "$(command -v "${enter[0]}")" "${enter[@]:1}" "$new" "${run[@]}" "$@"
}

fail() {
    printf 'static: %s\n' "$*" >&2
    exit 1
}

# expect WHAT STATUS TEXT COMMAND...: it ends with that status, and what it prints has the text.
expect() {
    local what=$1 wanted=$2 text=$3 got status=0
    shift 3
    got=$("$@" 2>&1) || status=$?
    [[ $status == "$wanted" && $got == *"$text"* ]] ||
        fail "$what: \"$*\" ended with $status, expected $wanted, and printed \"$got\", expected \"$text\""
    printf 'static: %s\n' "$what"
}

# The file: for no loader, of no library.
[[ $(readelf -W -l -d "$new/$name/weft") != *@(INTERP|NEEDED)* ]] || fail "the command asks for a loader or a library"
for file in LICENSE THIRD-PARTY-NOTICES.txt weft.cdx.json RELINKING.txt; do
    [[ -s $new/$name/$file ]] || fail "the archive has no $file"
done

# Devices: the processor, compiled, and nothing else.
expect 'which build' 0 'static' weft -- --version
devices=$(weft -- devices)
printf '%s\n' "$devices"
[[ $devices == *'yes, the default'* && $devices == *'for the processor alone'* && $devices != *interpret* && $devices != *slow* ]] ||
    fail "the processor is not listed as a compiled device that is the only one"
for select in nvidia opencl: 1 uuid:00000000000000000000000000000000; do
    expect "no device $select" 3 'for the processor alone' weft -- run /langid --device "$select" --file /langid/samples/vi.txt
done
expect 'no other LLVM' 0 'the LLVM that this static program has in it' weft WEFT_LLVM=19 -- devices

# Answers and bits.
with=()
[[ -z $qemu ]] || with=(WEFT_LLVM=0)
expect 'langid' 0 'vi ' weft HOME=/home "${langid[@]}"
weft HOME=/home "${with[@]}" -- verify --device processor --bits /bits --list /list.txt
if [[ -n $qemu ]]; then
    weft -- verify --device processor --bits /bits --filter softmax/unit/rank=1,rows=1,columns=7
    exit 0
fi
weft HOME=/home -- verify --device processor --bits /bits --list /list.txt --math fused

# Where less is there than a program expects.
closed() { weft "$@" <&- 2>&-; }
no_output() { weft "$@" >&-; }
somebody_else() {
    local enter=("${other[@]}")
    weft "$@"
}
read_only() {
    chmod 555 "$new/home"
    somebody_else HOME=/home "$@"
}
expect 'neither input nor errors' 0 'vi ' closed "${langid[@]}"
expect 'nowhere to print to' 4 'standard output could not be written' no_output "${langid[@]}"
expect 'no HOME' 0 'vi ' weft "${langid[@]}"
expect 'a HOME that is not there' 0 'vi ' weft HOME=/nowhere XDG_CACHE_HOME=/nowhere/either "${langid[@]}"
expect 'another user, whose HOME is not theirs' 0 'vi ' read_only "${langid[@]}"
expect 'another language' 0 'vi ' weft LC_ALL=de_DE.UTF-8 LANG=xx LD_LIBRARY_PATH=/nowhere LD_PRELOAD=nothing.so "${langid[@]}"
if [[ -n $model ]]; then
    expect "MiniLM's hash" 0 "$(sed -n 's/^sha256 //p' "$source/README.md")" weft -- embed /minilm \
        --text "A cat sits on the mat." --text "A kitten lies on the rug." --text "Stocks fell sharply today."
fi
