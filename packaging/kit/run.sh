#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sh run.sh [--seconds S] [--device SEL]... OUT [PART...]
#
# Tries Weft on a machine that has nothing but a driver, and packs what it found into OUT.tar.gz. `./dev kit` puts this file beside the command,
# loaders of Vulkan and OpenCL, cases and known bits. PARTS (default: look verify bench):
#   look     what there is: devices, drivers, processor
#   verify   every kernel with each value of its constants, in both exact modes, by Vulkan and OpenCL, against the known bits
#   bench    ops and mixers in three modes, decoding, the device's own limits
#   certify  weft certify, for as long as it takes by itself: ten minutes
# All but certify end within S seconds (default 540), however slow the driver compiles: what had no time is counted as skipped.
# Without --device it takes every GPU that `weft devices` lists as usable.
set -eu
kit=$(cd "$(dirname "$0")" && pwd)
weft=${WEFT:-$kit/weft/bin/weft}
seconds=540
devices=
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2 && shift 2 ;;
    --device) devices="$devices$2
" && shift 2 ;;
    -*) sed -n '4,14s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || { sed -n '4,14s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
out=$1
shift
[ $# -gt 0 ] || set -- look verify bench
mkdir -p "$out" "$out/tmp"
out=$(cd "$out" && pwd)
export XDG_CACHE_HOME="$out/tmp/cache"
began=$(date +%s)

# ---- drivers that no loader finds ----

use_loaders() {
    ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' && ldconfig -p | grep -q 'libOpenCL\.so\.1' && return 0
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$kit/loaders"
}

use_vulkan() {
    [ -z "${VK_DRIVER_FILES:-}" ] || return 0
    ! ls /etc/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/*.json >/dev/null 2>&1 || return 0
    VK_DRIVER_FILES=$(find /usr /opt -path '*vulkan/icd.d/*.json' 2>/dev/null | paste -s -d : -)
    export VK_DRIVER_FILES
}

# What the system names, and the libraries of GPUs' vendors that it does not.
use_opencl() {
    [ -z "${OCL_ICD_VENDORS:-}" ] || return 0
    mkdir -p "$out/tmp/vendors"
    cp /etc/OpenCL/vendors/*.icd "$out/tmp/vendors" 2>/dev/null || true
    for library in libnvidia-opencl.so.1 libamdocl64.so libigdrcl.so libmali.so.1; do
        grep -qs "$library" "$out/tmp/vendors"/*.icd && continue
        find /usr /opt -name "$library" 2>/dev/null | head -n 1 >"$out/tmp/found"
        [ ! -s "$out/tmp/found" ] || cp "$out/tmp/found" "$out/tmp/vendors/$library.icd"
    done
    export OCL_ICD_VENDORS="$out/tmp/vendors/"
}

# ---- helpers ----

left() {
    echo $((seconds - ($(date +%s) - began)))
}

# Runs a command for at most some seconds; what it has done until then it tells.
within() {
    limit=$1
    shift
    [ "$limit" -gt 0 ] || return 124
    timeout -k 20 "$limit" "$@"
}

each_device() {
    printf '%s' "$devices" | while IFS= read -r device; do
        [ -z "$device" ] || "$@" "$device"
    done
}

name_of() {
    printf '%s' "$1" | tr -c 'A-Za-z0-9.\n' - | tr -s -
}

# ---- parts ----

# "NAME" of a Vulkan driver's GPU, "opencl:NAME" of an OpenCL driver's. Columns have two spaces between them.
find_devices() {
    "$weft" devices --all >"$out/devices.txt" 2>&1 || true
    [ -n "$devices" ] || devices=$(awk -F '  +' '$4 ~ /^(discrete|integrated|virtual)$/ && $NF ~ /^yes/ {
        print ($5 ~ /^OpenCL/ ? "opencl:" : "") $3 }' "$out/devices.txt")
    devices="$devices
"
    cat "$out/devices.txt"
    [ -n "$(printf '%s' "$devices" | tr -d '\n')" ] || { echo "there is no GPU that Weft can use" >&2 && exit 3; }
}

look() {
    within 60 "$weft" devices --all --fma --json >"$out/devices.json" 2>"$out/devices.log" || true
    { uname -a && lscpu && free -m; } >"$out/machine.txt" 2>&1 || true
    nvidia-smi >>"$out/machine.txt" 2>&1 || true
    cat "$out/devices.log"
}

# verify_one MATH SECONDS DEVICE: dealt to processes, for most of the time is the driver's compiler's, which has one thread.
verify_one() {
    math=$1 limit=$2 device=$3
    folder=$out/verify/$(name_of "$device")-$math
    mkdir -p "$folder"
    many=$(nproc)
    [ "$many" -le 12 ] || many=12
    awk -v many="$many" -v folder="$folder" '{ print > (folder "/" NR % many ".list") }' "$kit/cases.txt"
    for list in "$folder"/*.list; do
        within "$limit" "$weft" verify --device "$device" --math "$math" --list "$list" --bits "$kit/bits" --cases --verbose \
            >"${list%.list}.txt" 2>&1 &
    done
    wait
    awk -v what="$device, $math" '$1 == "all" && NF == 5 { cases += $2; passed += $3; failed += $4; skipped += $5 }
        END { printf "%s: %d cases, %d passed, %d failed, %d skipped\n", what, cases, passed, failed, skipped }' "$folder"/*.txt
    grep -hE '^(FAILED|DIFFERENT)|error:' "$folder"/*.txt | sort -u | head -n 20 || true
}

verify() {
    share=$(($(left) / parts / ($(printf '%s' "$devices" | grep -c .) * 2)))
    for math in reproducible fused; do
        each_device verify_one "$math" "$share"
    done | tee "$out/verify.txt"
}

# bench_one FILE DEVICE OPTION...
bench_one() {
    file=$1 device=$2
    shift 2
    limit=$(left)
    [ "$limit" -le 120 ] || limit=120
    within "$limit" "$weft" bench --device "$device" --rounds 1 --seconds 0.3 --time-cap 5 "$@" \
        --out "$out/bench-$(name_of "$device")-$file.json" 2>&1 || true
}

bench_device() {
    bench_one limits "$1" --suite device
    for math in reproducible fused fast; do
        bench_one "ops-$math" "$1" --suite ops --math "$math" --no-limits
        bench_one "mixers-$math" "$1" --suite mixers --lengths 1024,4096 --math "$math" --no-limits
    done
    bench_one decode "$1" --suite decode --size short --no-limits
}

bench() {
    each_device bench_device | tee "$out/bench.txt"
}

certify_one() {
    "$weft" certify --device "$1" --out "$out/certificate-$(name_of "$1").json" 2>&1 || true
}

certify() {
    each_device certify_one | tee "$out/certify.txt"
}

# ---- all of it ----

use_loaders
use_vulkan
use_opencl
case " $* " in *" bench "*) parts=2 ;; *) parts=1 ;; esac # that share the time
if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,utilization.gpu,power.draw --format=csv -lms 500 >"$out/clocks.csv" 2>&1 &
    clocks=$!
    trap 'kill "$clocks" 2>/dev/null || true' EXIT
fi
find_devices
for part in "$@"; do
    case $part in
    look | verify | bench | certify) "$part" ;;
    *) echo "there is no part '$part'" >&2 && exit 2 ;;
    esac
done
rm -rf "$out/tmp"
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
echo "packed: $out.tar.gz"
