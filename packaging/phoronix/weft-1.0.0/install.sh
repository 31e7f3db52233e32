#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The Phoronix Test Suite runs this in the folder of the installed test, its $HOME. The command is $WEFT, or that of a release's archive beside this
# file (weft-VERSION-linux-x86_64.tar.gz or -static.tar.gz), or `weft` of the PATH. It makes ~/weft, which the suite runs: a line of each case.
set -u

find_weft() {
    if [ -n "${WEFT:-}" ]; then
        echo "$WEFT"
        return
    fi
    for archive in "$(dirname "$0")"/weft-*-linux-*.tar.gz; do
        if [ -f "$archive" ]; then
            tar -xf "$archive" -C "$HOME" || return
            name=$(basename "$archive" .tar.gz)
            for command in "$HOME/$name/bin/weft" "$HOME/$name/weft"; do
                if [ -x "$command" ]; then
                    echo "$command"
                    return
                fi
            done
        fi
    done
    command -v weft
}

command=$(find_weft)
if [ -z "$command" ] || ! "$command" --version; then
    echo "no weft: set WEFT to the command, put a release's archive beside install.sh, or install weft" >&2
    echo 1 >"$HOME/install-exit-status"
    exit 1
fi

cat >"$HOME/rows.awk" <<'END'
# Of each row that was timed "SUITE CASE MEDIAN ms", of weft bench --csv (RFC 4180).
function cells_of(line, cells,   count, cell) {
    count = 0
    while (line != "") {
        if (match(line, /^"([^"]|"")*"/)) {
            cell = substr(line, 2, RLENGTH - 2)
            gsub(/""/, "\"", cell)
        } else {
            match(line, /^[^,]*/)
            cell = substr(line, 1, RLENGTH)
        }
        cells[++count] = cell
        line = substr(line, RLENGTH + 2)
    }
    return count
}
{
    sub(/\r$/, "")
    count = cells_of($0, cells)
}
NR == 1 {
    for (i = 1; i <= count; i++) {
        column[cells[i]] = i
    }
    next
}
cells[column["status"]] == "ok" {
    print cells[column["suite"]], cells[column["case"]], cells[column["median_ms"]], "ms"
}
END
cat >"$HOME/weft" <<END
#!/bin/sh
rm -f "\$HOME/rows.csv"
"$command" bench "\$@" --csv "\$HOME/rows.csv" >"\$LOG_FILE" 2>&1
echo \$? >"\$HOME/test-exit-status"
awk -f "\$HOME/rows.awk" "\$HOME/rows.csv" >>"\$LOG_FILE"
END
chmod +x "$HOME/weft"
echo $? >"$HOME/install-exit-status"
