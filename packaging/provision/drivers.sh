# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# Vulkan drivers for the tests, in build/deps/drivers, and compilers of GPUs, in build/deps/compilers.

# write_driver NAME MANIFEST LIBRARY [VARIABLE=VALUE...]: one entry of the test matrix.
write_driver() {
    local name=$1 manifest=$2 library=$3
    shift 3
    mkdir -p "$drivers"
    sed 's|"library_path"[[:space:]]*:[[:space:]]*"[^"]*"|"library_path": "'"$library"'"|' \
        "$manifest" >"$drivers/$name.json.new"
    mv "$drivers/$name.json.new" "$drivers/$name.json" # a new file: another tree's may be a link to the old one
    if (($# > 0)); then
        printf '%s\n' "$@" >"$drivers/$name.env"
    else
        rm -f "$drivers/$name.env"
    fi
}

# on_lavapipe COMMAND ...: with lavapipe's eight lanes as the one Vulkan device.
on_lavapipe() {
    env "$(<"$drivers/lavapipe-8.env")" WEFT_PROCESSOR=0 "VK_DRIVER_FILES=$drivers/lavapipe-8.json" \
        "VK_ICD_FILENAMES=$drivers/lavapipe-8.json" "$@"
}

# loads LIBRARY: whether every library and symbol it needs is there.
loads() { [[ -z $(ldd -r "$1" 2>&1 | grep -E 'not found|undefined symbol') ]]; }

setup_lavapipe() {
    local manifest library
    manifest=$(dpkg -L mesa-vulkan-drivers | grep -E '/lvp_icd[^/]*\.json$' | sed -n 1p)
    library=$(dpkg -L mesa-vulkan-drivers | grep -E '/libvulkan_lvp\.so$' | sed -n 1p)
    [[ -n $manifest && -n $library ]] ||
        die "mesa-vulkan-drivers is installed but holds no lavapipe on this architecture"
    write_driver lavapipe-4 "$manifest" "$library" LP_NATIVE_VECTOR_WIDTH=128
    write_driver lavapipe-8 "$manifest" "$library" LP_NATIVE_VECTOR_WIDTH=256
    write_driver lavapipe-16 "$manifest" "$library" LP_NATIVE_VECTOR_WIDTH=512
}

# The library is in a browser package; only it and its manifest are unpacked.
setup_swiftshader() {
    local folder=$deps/swiftshader/usr/lib/chromium version
    if [[ ! -f $folder/libvk_swiftshader.so ]]; then
        update_private_lists || return 1
        version=$(available_version chromium-common)
        [[ -n $version ]] || return 1
        unpack chromium-common "$version" swiftshader ./usr/lib/chromium/libvk_swiftshader.so \
            ./usr/lib/chromium/vk_swiftshader_icd.json || return 1
    fi
    loads "$folder/libvk_swiftshader.so" || return 1
    write_driver swiftshader "$folder/vk_swiftshader_icd.json" "$folder/libvk_swiftshader.so"
}

setup_mesa_backports() {
    local version installed manifest library
    library=$(find "$deps/mesa-backports" -name libvulkan_lvp.so 2>/dev/null | sed -n 1p || true)
    if [[ -z $library ]]; then
        update_private_lists || return 1
        version=$(available_version mesa-vulkan-drivers "$(codename)-backports")
        installed=$(dpkg-query -W -f='${Version}' mesa-vulkan-drivers)
        [[ -n $version ]] && dpkg --compare-versions "$version" gt "$installed" || return 1
        unpack mesa-vulkan-drivers "$version" mesa-backports || return 1
        library=$(find "$deps/mesa-backports" -name libvulkan_lvp.so | sed -n 1p)
    fi
    manifest=$(find "$deps/mesa-backports" -name 'lvp_icd*.json' | sed -n 1p)
    [[ -n $library && -n $manifest ]] && loads "$library" || return 1
    write_driver mesa-backports "$manifest" "$library" LP_NATIVE_VECTOR_WIDTH=256
}

# write_opencl NAME LIBRARY [VARIABLE=VALUE...]: an OpenCL driver for tests, with the folder that makes it the only one.
write_opencl() {
    local name=$1 library=$2
    shift 2
    mkdir -p "$drivers/$name"
    printf '%s\n' "$library" >"$drivers/$name/driver.icd"
    printf '%s\n' "OCL_ICD_VENDORS=$drivers/$name" "$@" >"$drivers/$name.opencl"
}

# What ./dev test all tries beside Debian's drivers: Intel's runtime from PyPI, for x86-64, and an interpreter that checks accesses to memory.
setup_more_opencl() {
    install_packages oclgrind
    if [[ $(uname -m) == x86_64 ]]; then
        (python_environment "$deps/intel-opencl" tests/opencl/requirements.txt) ||
            note "Intel's OpenCL could not be fetched: tests run without it"
    fi
    setup_opencl
}

# PoCL and rusticl are Debian's.
setup_opencl() {
    local library folder=$deps/intel-opencl
    rm -f "$drivers"/*.opencl
    library=$(dpkg -L libpocl2 2>/dev/null | grep -E '/libpocl\.so\.[0-9.]+$' | tail -n 1 || true)
    [[ -z $library ]] || write_opencl opencl-pocl "$library" "POCL_CACHE_DIR=$root/build/test-cache/pocl"
    library=$(dpkg -L mesa-opencl-icd 2>/dev/null | grep -E '/libRusticlOpenCL\.so\.1$' | sed -n 1p || true)
    [[ -z $library ]] || write_opencl opencl-rusticl "$library" RUSTICL_ENABLE=llvmpipe
    library=$(find "$folder/lib" -maxdepth 1 -name 'libintelocl.so*' 2>/dev/null | sort | sed -n 1p || true)
    [[ -z $library ]] || write_opencl opencl-intel "$library" "LD_LIBRARY_PATH=$folder/lib"
    library=$(dpkg -L oclgrind 2>/dev/null | grep -E '/liboclgrind-rt-icd\.so$' || true)
    [[ -z $library ]] || write_opencl opencl-oclgrind "$library"
}

# AMD's, which is in Mesa and needs no hardware: drivers that compile and never run.
setup_compilers() {
    local manifest library drivers=$deps/compilers
    rm -f "$drivers"/*.json "$drivers"/*.env
    manifest=$(dpkg -L mesa-vulkan-drivers | grep -E '/radeon_icd[^/]*\.json$' | sed -n 1p || true)
    library=$(dpkg -L mesa-vulkan-drivers | grep -E '/libvulkan_radeon\.so$' | sed -n 1p || true)
    if [[ -n $manifest && -n $library ]]; then
        write_driver amd-vega10 "$manifest" "$library" RADV_FORCE_FAMILY=vega10
        write_driver amd-navi21 "$manifest" "$library" RADV_FORCE_FAMILY=navi21
    fi
    manifest=$(find "$deps/mesa-backports" -name 'radeon_icd*.json' 2>/dev/null | sed -n 1p || true)
    library=$(find "$deps/mesa-backports" -name libvulkan_radeon.so 2>/dev/null | sed -n 1p || true)
    if [[ -n $manifest && -n $library ]] && loads "$library"; then
        write_driver amd-navi31 "$manifest" "$library" RADV_FORCE_FAMILY=navi31
    fi
}

# NVIDIA's own compiler, which needs no GPU, and its disassembler, from PyPI.
setup_ptxas() {
    (python_environment "$deps/nvidia" tests/compilers/requirements.txt) ||
        note "NVIDIA's ptxas could not be fetched: tests run without it"
}

ptxas_folder() {
    find "$deps/nvidia" -path '*/bin/ptxas' -printf '%h\n' 2>/dev/null | sed -n 1p
}

# Intel's own compiler, which needs no GPU: Debian unstable's, with its C library. What it loads by name it does not depend on.
ocloc_packages=(intel-ocloc libigc2 libigdfcl2 libopencl-clang21.1)
setup_ocloc() {
    unpack_foreign ocloc "$(dpkg --print-architecture)" sid "${ocloc_packages[@]}" || return 1
    mkdir -p "$deps/ocloc/bin"
    cat >"$deps/ocloc/bin/ocloc.new" <<'END'
#!/bin/sh
root=$(dirname "$0")/..
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
exec "$(echo "$libraries"/ld-linux-*.so.*)" --library-path "$libraries" "$(echo "$root"/usr/bin/ocloc-[0-9]*)" "$@"
END
    chmod +x "$deps/ocloc/bin/ocloc.new"
    mv "$deps/ocloc/bin/ocloc.new" "$deps/ocloc/bin/ocloc"
    "$deps/ocloc/bin/ocloc" --version >/dev/null
}

# setup_drivers required|optional: whether a missing SwiftShader is an error.
setup_drivers() {
    rm -f "$drivers"/*.json "$drivers"/*.env
    setup_lavapipe
    if ! setup_swiftshader; then
        [[ $1 == optional ]] || die "SwiftShader (from the package chromium-common) could not be fetched;
  the tests need it as their small device (log: build/deps/apt/update.log)"
        note "SwiftShader could not be fetched; ./dev test needs it, build and demo do not"
    fi
    setup_mesa_backports ||
        note "no newer Mesa that loads here in the backports suite; tests run without it"
    setup_compilers
    setup_opencl
    say "test drivers: $(cd "$drivers" && printf '%s ' *.json *.opencl | sed -E 's/\.(json|opencl)//g')"
}
