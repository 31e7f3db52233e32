# SPDX-License-Identifier: MIT
#
# ./dev kit: what is carried to a machine that has a GPU, its driver and nothing else. Sourced by dev.

command_kit() {
    local place=$root/build/kit name=weft-kit kit archive
    kit=$place/$name
    command_archive
    rm -rf "$place"
    mkdir -p "$kit/weft" "$kit/loaders"
    unpack_foreign loaders "$(dpkg --print-architecture)" '' libvulkan1 ocl-icd-libopencl1 || die "the loaders could not be fetched"
    find "$deps/loaders" \( -name 'libvulkan.so.1' -o -name 'libOpenCL.so.1' \) -exec cp -L -t "$kit/loaders" {} +
    archive=$(find "$root/build/archive" -maxdepth 1 -name '*.tar.gz')
    tar -xzf "$archive" -C "$kit/weft" --strip-components=1
    cp packaging/kit/run.sh "$kit"
    # What executes each kernel with each value of its constants, also those that only GPUs have.
    sed -nE 's/^([^# ]+) (.* )?(quick|own)( .*)?$/\1/p' tests/data/cases.txt >"$kit/cases.txt"
    cp -r tests/data/bits "$kit/bits"
    cp -r tests/data/bits-fused "$kit/bits-fused"
    tar -czf "$place/$name.tar.gz" -C "$place" "$name"
    say "the kit, $(du -h "$place/$name.tar.gz" | cut -f 1)B: $place/$name.tar.gz; there: tar xzf $name.tar.gz && sh $name/run.sh OUT"
}
