#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# screenshot.sh PAGE.html FOLDER: pictures of a page of `weft bench --html` as a desktop (1280 pixels wide), a phone (390) and
# paper show it: desktop.png, phone.png, paper.pdf; and page.png, the first two beside each other. HEIGHT sets the pixels from the
# top, 2400 unless told. Needs Chromium.
set -euo pipefail

page=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
height=${HEIGHT:-2400}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --no-sandbox: in containers there is none, and the page loads nothing.
shoot() {
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
        --virtual-time-budget=5000 "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

shoot --window-size="1280,$height" --screenshot="$out/desktop.png" "file://$page"
# A window cannot be as narrow as a phone; a frame in it can.
printf '<body style="margin:0"><iframe src="file://%s" style="border:0;width:390px;height:%spx"></iframe>' \
    "$page" "$height" >"$work/phone.html"
shoot --window-size="390,$height" --force-device-scale-factor=1 --screenshot="$out/phone.png" "file://$work/phone.html"
shoot --no-pdf-header-footer --print-to-pdf="$out/paper.pdf" "file://$page"
# bench/page.png is of results/lavapipe/mixers.json.
printf '<body style="margin:8px;background:#d4d9df;display:flex;gap:16px;align-items:flex-start;height:1284px;overflow:hidden">
<img src="file://%s" style="width:960px"><img src="file://%s" style="width:293px">' \
    "$out/desktop.png" "$out/phone.png" >"$work/both.html"
shoot --window-size=1290,1300 --force-device-scale-factor=1 --screenshot="$out/page.png" "file://$work/both.html"
