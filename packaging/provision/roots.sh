# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Debians in roots of their own, build/deps/roots, and trials of what is handed out (packaging/trials) in them.

root_options=(--variant=minbase) # of mmdebstrap

# make_root SUITE NAME PACKAGE...: $new_root, a Debian with its smallest set and these packages, kept until other ones are asked for.
make_root() {
    local suite=$1 sources=$deps/roots/$1.d
    new_root=$deps/roots/$1-$2
    shift 2
    [[ -f $new_root/packages && $(<"$new_root/packages") == "$*" ]] && return 0
    install_packages mmdebstrap
    update_private_lists || die "Debian's archive is not known here"
    if [[ $suite == "$(codename)" ]]; then
        sources=$deps/apt/sources.d # with backports and security
    else
        write_sources_of "$suite" "$sources" || die "Debian's archive is not known here"
    fi
    say "making a root of $suite with: $*"
    rm -rf "$new_root.partial" "$new_root"
    mkdir -p "$deps/roots"
    # The lists of a mirror that lags behind are out of date by their own word; they are signed all the same.
    cat "$sources"/* | mmdebstrap --quiet --format=dir --dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' \
        "${root_options[@]}" "--include=$(printf '%s\n' "$@" | paste -s -d ,)" "$suite" "$new_root.partial" - ||
        die "a root of $suite could not be made (see above)"
    printf '%s' "$*" >"$new_root.partial/packages"
    mv "$new_root.partial" "$new_root"
}

# in_copy ROOT FILE... -- COMMAND...: runs the command, which has one more argument: a folder that is the root, with these files in a new
# /root. What is changed there is gone afterwards, but for what is put into /kept: the next one finds it there.
in_copy() {
    local folder=$1 place=$root/build/trials/${1##*/} files=() status=0
    shift
    while [[ $1 != -- ]]; do
        files+=("$1")
        shift
    done
    ((EUID == 0)) || die "a trial mounts a root of its own: run it as root"
    rm -rf "$place"/{root,changes,work}
    mkdir -p "$place"/{root,work,changes/root,changes/kept,kept}
    cp -R "${files[@]}" "$place/changes/root"
    # shellcheck disable=SC2016 # the inner shell has its own $1
    unshare --mount sh -euc '
        lower=$1 place=$2
        shift 3
        mount -t overlay overlay -o "lowerdir=$lower,upperdir=$place/changes,workdir=$place/work" "$place/root"
        mount --bind "$place/kept" "$place/root/kept"
        exec "$@" "$place/root"
    ' in_copy "$folder" "$place" "$@" || status=$?
    rm -rf "$place"/{root,changes,work}
    return "$status"
}

# in_root ROOT TRIAL FILE...: runs packaging/trials/TRIAL.sh in a copy of the root, with these files, and nothing of our environment
# but the way to an archive.
in_root() {
    local folder=$1 trial=$2
    shift 2
    say "trying: $trial in Debian $(<"$folder/etc/debian_version")"
    # shellcheck disable=SC2016 # the inner shell has its own $1
    in_copy "$folder" "packaging/trials/$trial.sh" "$@" -- sh -euc '
        trial=$1 version=$2 jobs=$3
        for place in proc dev sys; do mount --rbind "/$place" "$4/$place"; done
        [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$4/etc"
        exec chroot "$4" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "JOBS=$jobs" \
            ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} sh -c "cd /root && exec sh ./$trial.sh $version"
    ' in_root "$trial" "$version" "$jobs"
}
