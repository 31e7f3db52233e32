# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Debian packages: those that are installed, and those that are unpacked beside the system, in build/deps.

build_packages=(
    gcc g++ libc6-dev cmake ninja-build pkg-config
    glslang-tools glslang-dev spirv-tools spirv-headers opencl-c-headers
    libvulkan-dev libvulkan-volk-dev libvulkan1
    libjansson-dev libzip-dev libutf8proc-dev libjs-chart.js
)
# A Vulkan driver for machines without one. The processor device needs none.
driver_packages=(mesa-vulkan-drivers)
# OpenCL on the processor, and its loader, for tests.
opencl_packages=(ocl-icd-opencl-dev pocl-opencl-icd mesa-opencl-icd)
test_packages=("${driver_packages[@]}" "${opencl_packages[@]}" libcmocka-dev rapidjson-dev vulkan-validationlayers zsh fish)
# LLVM of 15 to 22 for the processor device's compiler: the first of these that a release has. Debian 12's llvm-dev is 14.
processor_packages=(llvm-15-dev llvm-dev llvm-22-dev llvm-21-dev llvm-20-dev llvm-19-dev)
# Others, by which tests compile kernels, too: the first that a release has, and in ./dev test all each.
other_llvm_packages=(libllvm22 libllvm19 libllvm16)
python_packages=(python3 python3-venv python3-dev)
# For the programs of other libraries' in api/examples, and the screen of their tests.
host_packages=(libglfw3-dev libplacebo-dev libavcodec-dev libavformat-dev libavutil-dev xvfb xauth)
fuzz_packages=(clang)
lint_packages=(clang-format clang-tidy shellcheck)
debian_packages=(dpkg-dev debhelper dh-python lintian python3-cffi python3-dev python3-numpy llvm-15-dev zlib1g-dev)

package_installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_packages NAME...: installs those that are missing; needs no network when none is.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "setup knows Debian's tools only; install the equivalents of: $*"
    fi
    local missing=() name
    for name in "$@"; do
        package_installed "$name" || missing+=("$name")
    done
    ((${#missing[@]} == 0)) && return 0

    local as_root=()
    if ((EUID != 0)); then
        if command -v sudo >/dev/null && sudo -v; then
            as_root=(sudo)
        else
            die "these Debian packages are missing; install them as root, then run this again:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        fi
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y
        -o DPkg::Lock::Timeout=300 -o APT::Sandbox::User=root)
    local install=("${apt[@]}" install --no-install-recommends "${missing[@]}")
    say "installing ${missing[*]}"
    # The package lists of a fresh image are empty, and those of an old one name files that are gone.
    if "${apt[@]}" --simulate install --no-install-recommends "${missing[@]}" >/dev/null 2>&1 &&
        "${install[@]}"; then
        return 0
    fi
    "${apt[@]}" update || note "apt-get update reported errors; trying to install all the same"
    "${install[@]}" || die "apt-get could not install ${missing[*]} (see above)"
}

# --- Packages that are unpacked beside the system ---

codename() { (. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}"); }

# The machine's own archive entries for its release, in a folder of our own, with the backports
# suite added: the address comes from the machine and the machine's configuration stays as it is.
write_private_sources() {
    local release=$1 folder=$deps/apt/sources.d file
    rm -rf "$folder"
    mkdir -p "$folder"
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -f $file ]] || continue
        awk -v release="$release" '
            function flush_field() {
                if (name == "") return
                key = tolower(name)
                if (key != "signed-by") gsub(/\n[ \t]*/, " ", value)
                fields[key] = value
                if (key != "suites") text = text name ":" value "\n"
                name = ""
            }
            function has(list, word) { return index(" " list " ", " " word " ") > 0 }
            function flush_stanza() {
                flush_field()
                suites = fields["suites"]
                if (has(fields["types"], "deb") && fields["enabled"] !~ /no/ &&
                    has(fields["components"], "main") && has(suites, release))
                    print text "Suites:" suites " " release "-backports\n"
                else if (has(fields["types"], "deb") && fields["enabled"] !~ /no/ &&
                         index(suites, release "-security"))
                    print text "Suites:" suites "\n"
                split("", fields)
                text = ""
            }
            /^#/ { next }
            /^[ \t]*$/ { flush_stanza(); next }
            /^[ \t]/ { value = value "\n" $0; next }
            { flush_field(); name = $0; sub(/:.*/, "", name); value = $0; sub(/^[^:]*:/, "", value) }
            END { flush_stanza() }
        ' "$file" >>"$folder/weft.sources"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -f $file ]] || continue
        awk -v release="$release" '
            $1 == "deb" {
                i = 2
                if ($2 ~ /^\[/) { while ($i !~ /\]$/) i++; i++ }
                suite = $(i + 1)
                main = 0
                for (j = i + 2; j <= NF; j++) if ($j == "main") main = 1
                if (!main) next
                if (suite == release || suite ~ ("^" release "[-/](security|updates)")) print
                if (suite == release) { $(i + 1) = release "-backports"; print }
            }
        ' "$file" >>"$folder/weft.list"
    done
    [[ -s $folder/weft.sources || -s $folder/weft.list ]]
}

# private_apt COMMAND ARGUMENT...: an apt tool on our own lists and cache, as any user.
private_apt() {
    local tool=$1
    shift
    "$tool" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$deps/apt/sources.d" \
        -o Dir::State::lists="$deps/apt/lists" -o Dir::Cache="$deps/apt/cache" \
        -o Dir::Cache::archives="$deps/apt/cache/archives" -o Debug::NoLocking=true \
        -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=false "$@"
}

private_lists_ready=0
update_private_lists() {
    ((private_lists_ready)) && return 0
    command -v apt-get >/dev/null || return 1
    local release
    release=$(codename)
    if [[ -z $release ]] || ! write_private_sources "$release"; then
        note "this machine's apt sources name no 'main' archive for its release ('$release')"
        return 1
    fi
    mkdir -p "$deps/apt/lists/partial" "$deps/apt/cache/archives/partial" "$deps/apt/debs"
    say "reading the package lists of $release and $release-backports"
    # One entry without a backports suite must not spoil the others: what counts is whether the
    # packages are found afterwards.
    private_apt apt-get update >"$deps/apt/update.log" 2>&1 ||
        note "apt-get update reported errors, see build/deps/apt/update.log"
    private_lists_ready=1
}

# available_version PACKAGE [SUITE]: the newest version in the private lists, or nothing.
available_version() {
    { private_apt apt-cache madison "$1" 2>/dev/null || true; } |
        awk -F ' *[|] *' -v suite="${2:-}" '
            suite == "" || index($3, " " suite "/") { print $2 }' |
        { while read -r version; do
            if [[ -z ${best:-} ]] || dpkg --compare-versions "$version" gt "$best"; then
                best=$version
            fi
        done; printf '%s' "${best:-}"; }
}

# unpack PACKAGE VERSION FOLDER [PATH...]: downloads and extracts into build/deps/FOLDER, all of the
# package or only PATHs. The folder appears complete or not at all.
unpack() {
    local package=$1 version=$2 folder=$3 deb
    shift 3
    rm -f "$deps/apt/debs/${package}_"*.deb
    say "fetching $package $version"
    (cd "$deps/apt/debs" && private_apt apt-get download "$package=$version") || return 1
    deb=$(find "$deps/apt/debs" -name "${package}_*.deb")
    rm -rf "$deps/$folder.partial" "${deps:?}/$folder"
    mkdir -p "$deps/$folder.partial"
    if (($# > 0)); then
        dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$deps/$folder.partial" "$@" || return 1
    else
        dpkg-deb -x "$deb" "$deps/$folder.partial" || return 1
    fi
    mv "$deps/$folder.partial" "$deps/$folder"
    rm -f "$deb"
}

# write_sources_of SUITE FOLDER: the entries of the machine's main archive, for another suite.
write_sources_of() {
    rm -rf "$2"
    mkdir -p "$2"
    local file release
    release=$(codename)
    for file in "$deps"/apt/sources.d/*; do
        case $file in
        *.sources)
            awk -v RS= -v suite="$1" '/\nSuites:[^\n]*-backports/ { sub(/\nSuites:[^\n]*/, "\nSuites: " suite); print $0 "\n" }' \
                "$file" >"$2/${file##*/}"
            ;;
        *) sed -n "s/ $release-backports / $1 /p" "$file" >"$2/${file##*/}" ;;
        esac
    done
    [[ -n $(cat "$2"/*) ]]
}

# unpack_foreign FOLDER ARCHITECTURE SUITE PACKAGE...: packages of another architecture or release, with all that they depend on, into
# build/deps/FOLDER. The machine's own dpkg hears nothing of it. The folder appears complete or not at all. Without a SUITE, ours.
unpack_foreign() {
    local folder=$deps/$1 architecture=$2 suite=$3 state=$deps/apt/$1 parts=$deps/apt/sources.d deb link
    shift 3
    [[ -f $folder/packages && $(<"$folder/packages") == "$*" ]] && return 0
    update_private_lists || return 1
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    if [[ -n $suite ]]; then
        parts=$state/sources.d
        write_sources_of "$suite" "$parts" || return 1
    fi
    : >"$state/status" # nothing of it is installed
    foreign_apt() {
        local tool=$1
        shift
        private_apt "$tool" -o Dir::Etc::sourceparts="$parts" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status" \
            -o Dir::Cache="$state/cache" -o Dir::Cache::archives="$state/cache/archives" \
            -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" "$@"
    }
    say "fetching $* ${suite:+of $suite }for $architecture"
    foreign_apt apt-get update >"$state/update.log" 2>&1 ||
        note "apt-get update reported errors, see build/deps/apt/$architecture/update.log"
    rm -f "$state/cache/archives/"*.deb
    foreign_apt apt-get install -y --no-install-recommends --download-only "$@" >"$state/install.log" 2>&1 || {
        tail -n 5 "$state/install.log" >&2
        return 1
    }
    rm -rf "$folder.partial" "${folder:?}"
    mkdir -p "$folder.partial"
    for deb in "$state/cache/archives/"*.deb; do
        dpkg-deb -x "$deb" "$folder.partial" || return 1
    done
    find "$folder.partial" -type l -lname '/*' | while read -r link; do
        ln -srfn "$folder.partial$(readlink "$link")" "$link"
    done
    printf '%s' "$*" >"$folder.partial/packages"
    mv "$folder.partial" "$folder"
    rm -f "$state/cache/archives/"*.deb
}

# fetch_source PACKAGE [SUITE]: the original source of the package, by default of our release, in build/deps/apt/sources/PACKAGE.
# Debian's patches to those that are fetched here are about its own builds.
fetch_source() {
    local package=$1 suite=${2:-$(codename)} folder=$deps/apt/sources/$1 parts=$deps/apt/sources-src.d file
    update_private_lists || return 1
    if [[ ! -d $parts ]]; then
        mkdir -p "$parts.partial"
        for file in "$deps"/apt/sources.d/*; do
            sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"$parts.partial/${file##*/}"
        done
        private_apt apt-get -o Dir::Etc::sourceparts="$parts.partial" update >"$deps/apt/update-src.log" 2>&1 ||
            note "apt-get update reported errors, see build/deps/apt/update-src.log"
        mv "$parts.partial" "$parts"
    fi
    rm -rf "$folder"
    mkdir -p "$folder"
    say "fetching the source of $package"
    (cd "$folder" && private_apt apt-get -o Dir::Etc::sourceparts="$parts" source --download-only --tar-only "$package/$suite") \
        >"$deps/apt/source-$package.log" 2>&1 || return 1
    file=$(find "$folder" -name '*.orig.tar.?z*' ! -name '*.asc')
    tar -x -C "$folder" --strip-components=1 -f "$file"
}
