# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ./dev, which reads this, has set the names that are not set here
#
# ./dev gpus: compilers of GPUs that are not here, Mesa's, NVIDIA's own and Intel's own. Each of Mesa's compiles for a GPU that a driver is
# made to see: AMD's driver knows how to do without one; the others talk to a kernel that is not there, which Mesa's own drm-shim plays.
# NVIDIA's and Intel's are programs that are told what to compile for.

gpus=$deps/gpus
amd_gpus=(vega10 navi21 navi31)
ptxas_gpus=(sm_75 sm_80 sm_90 sm_120) # Turing, Ampere, Hopper, Blackwell
ocloc_gpus=(ocloc-dg2 ocloc-bmg)         # Arc A, Battlemage
usual_gpus=("${amd_gpus[@]}" dg2 bmg turing ampere adreno660 adreno740 "${ptxas_gpus[@]}")
all_gpus=("${usual_gpus[@]}" "${ocloc_gpus[@]}" v3d71 g610)

# The packages of Mesa's build; requirements.txt has what it takes from PyPI.
shim_packages=(patch bison flex m4 libdrm-dev zlib1g-dev pkg-config ninja-build)

# What GPU is played, as each shim or driver wants to hear it.
gpu_variable() {
    case $1 in
    vega10 | navi21 | navi31) echo "RADV_FORCE_FAMILY=$1" ;;
    dg2 | bmg) echo "INTEL_STUB_GPU_PLATFORM=$1" ;;
    turing) echo NOUVEAU_CHIPSET=0x164 ;;
    ampere) echo NOUVEAU_CHIPSET=0x174 ;;
    adreno*) echo "FD_GPU_ID=${1#adreno}" ;;
    v3d71) echo V3D_GPU=71 ;;
    g610) echo PAN_GPU_ID=a867 ;;
    sm_75 | sm_80 | sm_90 | sm_120) echo NVIDIA= ;;
    ocloc-dg2 | ocloc-bmg) echo INTEL= ;;
    *) die "no GPU is called $1 (there are: ${all_gpus[*]})" ;;
    esac
}

# Of whose compiler a GPU is: amd, intel, nouveau, freedreno, broadcom, panfrost; or of ptxas or ocloc.
gpu_driver() {
    case $1 in
    vega10 | navi*) echo amd ;;
    dg2 | bmg) echo intel ;;
    turing | ampere) echo nouveau ;;
    adreno*) echo freedreno ;;
    v3d*) echo broadcom ;;
    g610) echo panfrost ;;
    sm_*) echo ptxas ;;
    ocloc-*) echo ocloc ;;
    esac
}

# --- What has to be there ------------------------------------------------------------------------

mesa_source() {
    [[ -f $deps/apt/sources/mesa/VERSION ]] && return 0
    fetch_source mesa "$(codename)-backports" ||
        die "the source of Mesa is not to be had here (log: build/deps/apt/source-mesa.log)"
    local diff
    for diff in bench/compilers/shims/*.diff; do
        patch --silent -d "$deps/apt/sources/mesa" -p1 <"$diff" || die "$diff does not fit Mesa's source"
    done
}

# mesa_build FOLDER TARGET[,TARGET...] MESON-OPTION...: some targets of Mesa, in build/deps/gpus/FOLDER.
mesa_build() {
    local folder=$gpus/$1 targets environment=$gpus/env
    IFS=, read -ra targets <<<"$2"
    shift 2
    mesa_source
    python_environment "$environment" bench/compilers/requirements.txt
    say "building ${targets[*]} of Mesa"
    {
        [[ -f $folder/build.ninja ]] || PATH=$environment/bin:/usr/bin:$PATH meson setup "$folder" "$deps/apt/sources/mesa" \
            --buildtype release -Dgallium-drivers= -Dllvm=disabled -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled \
            -Dgles1=disabled -Dgles2=disabled -Dopengl=false -Dbuild-tests=false -Dvideo-codecs= -Dzstd=disabled \
            -Dshader-cache=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dvalgrind=disabled -Dxmlconfig=disabled "$@" &&
            PATH=$environment/bin:/usr/bin:$PATH ninja -j "$jobs" -C "$folder" "${targets[@]}"
    } >"$gpus/${folder##*/}.log" 2>&1 ||
        die "Mesa could not be built (log: build/deps/gpus/${folder##*/}.log)"
}

# Intel's needs Mesa's tables of Intel's GPUs; the others one file each, and what is common to all.
build_shims() {
    local mesa=$deps/apt/sources/mesa build=$gpus/shims driver source
    [[ -f $gpus/shim-freedreno.so ]] && return 0
    install_packages "${shim_packages[@]}"
    mesa_build shims src/intel/tools/libintel_noop_drm_shim.so -Dtools=drm-shim,intel -Dvulkan-drivers=
    cp "$build/src/intel/tools/libintel_noop_drm_shim.so" "$gpus/shim-intel.so"
    for driver in nouveau freedreno; do
        source=$mesa/src/$driver/drm-shim/${driver}_noop.c
        gcc -std=gnu11 -shared -fPIC -O2 -fvisibility=hidden -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DHAVE_PTHREAD \
            -DHAVE_STRUCT_TIMESPEC -DHAVE_LIBDRM -DMAJOR_IN_SYSMACROS -DHAVE_ENDIAN_H -DHAVE_SECURE_GETENV \
            -I/usr/include/libdrm -I"$mesa/src" -I"$mesa/include" -I"${source%/*}" "$source" \
            -Wl,--whole-archive "$build/src/drm-shim/libdrm_shim.a" -Wl,--no-whole-archive -Wl,--start-group \
            "$build"/src/util/libmesa_util*.a "$build"/src/util/blake3/libblake3.a "$build"/src/c11/impl/libmesa_util_c11.a \
            -Wl,--end-group -ldl -lpthread -lm -lz -o "$gpus/shim-$driver.so" >>"$gpus/shims.log" 2>&1 ||
            die "the shim of $driver could not be built (log: build/deps/gpus/shims.log)"
    done
}

# Drivers that Debian has for other processors only: those of small devices.
build_small() {
    [[ -f $gpus/shim-panfrost.so ]] && return 0
    install_packages "${shim_packages[@]}" libexpat1-dev
    local shims=src/broadcom/drm-shim/libv3d_noop_drm_shim.so,src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so
    mesa_build small "src/broadcom/vulkan/libvulkan_broadcom.so,src/panfrost/vulkan/libvulkan_panfrost.so,$shims" \
        -Dtools=drm-shim -Dvulkan-drivers=broadcom,panfrost
    cp "$gpus/small/src/broadcom/drm-shim/libv3d_noop_drm_shim.so" "$gpus/shim-broadcom.so"
    cp "$gpus/small/src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so" "$gpus/shim-panfrost.so"
}

# The newest Mesa, for which Debian compiles NVIDIA's and Qualcomm's drivers, too; with its own C library.
newest_mesa=$deps/mesa-sid
setup_newest_mesa() {
    unpack_foreign mesa-sid "$(dpkg --print-architecture)" sid mesa-vulkan-drivers libvulkan1 libstdc++6 ||
        die "the newest Mesa is not to be had here (logs: build/deps/apt/mesa-sid)"
}

setup_gpu() {
    mkdir -p "$gpus"
    case $(gpu_driver "$1") in
    amd) [[ -d $deps/mesa-backports ]] || die "the backports' Mesa is not to be had here" ;;
    broadcom | panfrost) build_small ;;
    ptxas)
        install_packages "${fuzz_packages[@]}" # clang
        setup_ptxas
        [[ -n $(ptxas_folder) ]] || die "NVIDIA's ptxas is not to be had here"
        ;;
    ocloc) setup_ocloc || die "Intel's ocloc is not to be had here (logs: build/deps/apt/ocloc)" ;;
    *)
        setup_newest_mesa
        build_shims
        ;;
    esac
}

# --- Running -------------------------------------------------------------------------------------

# write_manifest NAME LIBRARY
write_manifest() {
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$2" >"$gpus/$1.json"
}

# on_gpu GPU COMMAND...: with that GPU as the one Vulkan device. Mesa's own cache would hide what compiling takes.
on_gpu() {
    local gpu=$1 driver libraries
    libraries=/usr/lib/$(gcc -print-multiarch)
    driver=$(gpu_driver "$gpu")
    shift
    local run=(timeout 3600 env "$(gpu_variable "$gpu")" MESA_SHADER_CACHE_DISABLE=true WEFT_PROCESSOR=0
        PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1 "VK_DRIVER_FILES=$gpus/$driver.json" "VK_ICD_FILENAMES=$gpus/$driver.json")
    case $driver in
    amd)
        write_manifest amd "$deps/mesa-backports$libraries/libvulkan_radeon.so"
        "${run[@]}" "$@"
        ;;
    broadcom | panfrost)
        write_manifest "$driver" "$gpus/small/src/$driver/vulkan/libvulkan_$driver.so"
        "${run[@]}" "LD_PRELOAD=$gpus/shim-$driver.so" "$@"
        ;;
    *)
        libraries=$newest_mesa$libraries
        write_manifest "$driver" "$libraries/libvulkan_$driver.so"
        "${run[@]}" "$(echo "$libraries"/ld-linux-*.so.*)" --preload "$gpus/shim-$driver.so" \
            --library-path "$libraries:/usr/lib/$(gcc -print-multiarch):/lib/$(gcc -print-multiarch)" "$@"
        ;;
    esac
}

# How a GPU that cannot be asked rounds once, where it is not as Weft guesses: Mesa's compiler for GCN makes two operations of an fma.
gpu_fma() {
    case $1 in
    vega10) echo float64 ;;
    esac
}

# check_fma GPU OPTION...: no Fma of fused math may become a product and a sum, where the GPU is taken to have it.
check_fma() {
    local gpu=$1 out=build/gpus/$1/apart
    shift
    [[ -z $(gpu_fma "$gpu") ]] || return 0
    on_gpu "$gpu" "$compiler" "build/gpus/$gpu/fused/pipelines" "$out" --apart "$@" >"$out.txt" 2>"$out.log" || {
        tail -n 8 "$out.txt" "$out.log" >&2
        return 1
    }
    say "$gpu, fused: $(tail -n 1 "$out.txt")"
}

# compile_gpu GPU: every pipeline in all modes. In reproducible and fused math it has to keep to the rules; fast math, which fuses and
# approximates, has to be noticed, or they see nothing.
compile_gpu() {
    local gpu=$1 math status out=build/gpus/$1 options=(--check --jobs "$jobs")
    rm -rf "$out"
    # Their compilers need minutes for what others' registers are for, and nobody would run it there.
    case $(gpu_driver "$gpu") in
    broadcom | panfrost) options+=(--taken) ;;
    esac
    for math in reproducible fused fast; do
        mkdir -p "$out/$math"
        cp -r "build/gpus/pipelines/$math" "$out/$math/pipelines"
        # What only this GPU takes: with cooperative matrices, or made for its subgroups.
        on_gpu "$gpu" build/tests/compilers/weft-pipelines "$out/$math/pipelines" "$math" build/tests/lists/own.txt compile-only \
            >/dev/null 2>"$out/$math.log" || note "$gpu cannot say what it takes: its driver opens for compiling only where it runs"
        status=0
        WEFT_FMA=$(gpu_fma "$gpu") on_gpu "$gpu" "$compiler" "$out/$math/pipelines" "$out/$math" "${options[@]}" \
            >"$out/$math.txt" 2>>"$out/$math.log" || status=$?
        if [[ $math == fast && $status == 1 ]] && grep -q ", [1-9][0-9]* of them against the rules" "$out/fast.txt" &&
            ! grep -q " could not be compiled" "$out/fast.txt"; then
            status=0
        elif [[ $math == fast && $status == 0 ]]; then
            say "$gpu: the rules notice nothing in fast math"
            status=1
        fi
        ((status == 0)) || {
            tail -n 8 "$out/$math.txt" "$out/$math.log" >&2
            return 1
        }
        say "$gpu, $math: $(tail -n 1 "$out/$math.txt")"
    done
    check_fma "$gpu" "${options[@]}"
}

# compile_vendor ptxas|ocloc TOOLS GPU...: every pipeline in both exact modes; fast math has functions that only the vendor's own libraries
# have. That the rules notice broken ones, and that each Fma stays one, are tests of their own (tests/cmake/ptxas.cmake and ocloc.cmake).
compile_vendor() {
    local vendor=$1 tools=$2 math gpu targets status=0
    shift 2
    for math in reproducible fused; do
        targets=()
        for gpu in "$@"; do
            rm -rf "build/gpus/$gpu/$math"
            targets+=("${gpu#ocloc-}=build/gpus/$gpu/$math")
        done
        "build/tests/compilers/weft-$vendor" "build/gpus/pipelines/$math" "${targets[@]}" --tools "$tools" --check \
            --jobs "$jobs" >"build/gpus/$vendor-$math.txt" 2>"build/gpus/$vendor-$math.log" || {
            tail -n 8 "build/gpus/$vendor-$math.txt" "build/gpus/$vendor-$math.log" >&2
            status=1
        }
        say "$math: $(grep -E "^[a-z0-9_]+, $vendor " "build/gpus/$vendor-$math.txt")"
    done
    return "$status"
}

write_pipelines_of() {
    local math=$1 list
    mkdir -p "build/gpus/pipelines/$math"
    for list in build/tests/lists/{quick,forms}.txt; do
        on_lavapipe build/tests/compilers/weft-pipelines "build/gpus/pipelines/$math" "$math" "$list" || return 1
    done
}

# Two modes at once: each plans with one processor.
write_pipelines() {
    local fast status=0
    rm -rf build/gpus/pipelines
    write_pipelines_of fast &
    fast=$!
    write_pipelines_of reproducible && write_pipelines_of fused || status=1
    wait "$fast" || status=1 # also where the other failed: nothing may write there behind our back
    return "$status"
}

# compile_anchors GGML NCNN GPU...: shaders of checkouts of theirs, in the sizes of subgroups that they ask for: 32 on RDNA 1 and 2.
compile_anchors() {
    local ggml=$1 ncnn=$2 gpu subgroup out=build/gpus/anchors
    shift 2
    install_packages glslang-tools spirv-tools
    rm -rf "$out"
    python3 bench/compilers/anchors.py modules "$ggml" "$ncnn" "$out/modules" || return 1
    for gpu in "$@"; do
        case $gpu in
        vega10 | navi31 | adreno*) subgroup=64 ;;
        *) subgroup=32 ;;
        esac
        mkdir -p "$out/$gpu"
        RADV_PERFTEST=$([[ $gpu != navi21 ]] || echo cswave32) on_gpu "$gpu" "$compiler" "$out/modules/$subgroup" "$out/$gpu" \
            --jobs "$jobs" >"$out/$gpu.txt" 2>"$out/$gpu.log" || note "$gpu: $(tail -n 1 "$out/$gpu.txt" "$out/$gpu.log")"
    done
    python3 bench/compilers/anchors.py table "$out" build/gpus/results "$@" >"$out/anchors.md" &&
        cp "$out/anchors.md" bench/compilers/anchors.md
}

# compile_commit COMMIT GPU...: build/gpus/commits/COMMIT/GPU.json, the same of that commit, made by its own ./dev gpus in a work tree.
# Older commits have such files of their own, which are taken; of a GPU that it does not know there is none.
compile_commit() {
    local commit=$1 gpu missing=() out=build/gpus/commits/$1 tree=build/gpus/tree
    shift
    mkdir -p "$out"
    for gpu in "$@"; do
        [[ -s $out/$gpu.json ]] || git show "$commit:bench/compilers/$gpu.json" >"$out/$gpu.json" 2>/dev/null ||
            [[ -z $(git show "$commit:bench/compilers/gpus.sh" | grep -w "$gpu") ]] || missing+=("$gpu")
        [[ -s $out/$gpu.json ]] || rm -f "$out/$gpu.json"
    done
    ((${#missing[@]} > 0)) || return 0
    say "compiling commit $commit, too, to compare with it"
    git worktree remove --force "$tree" 2>/dev/null || true
    git worktree add --force --detach "$tree" "$commit"
    mkdir -p "$tree/build"
    ln -sfn "$deps" "$tree/build/deps"
    (cd "$tree" && ./dev gpus "${missing[@]}") || die "commit $commit could not be compiled (in $tree)"
    for gpu in "${missing[@]}"; do
        cp "$tree/build/gpus/results/$gpu.json" "$out"
    done
    git worktree remove --force "$tree"
}

command_gpus() {
    local commit='' options=() names=() anchors=() mesa=() ptxas=() ocloc=() word failed=() compiler=build/tests/compilers/weft-compile
    while (($# > 0)); do
        word=$1
        shift
        case $word in
        --compare)
            commit=$(git rev-parse --verify --quiet "${1:-}^{commit}") && shift || commit=$(git rev-parse HEAD)
            options=(--compare "build/gpus/commits/$commit")
            ;;
        --anchors)
            (($# >= 2)) || die "--anchors needs two folders: checkouts of ggml and of ncnn"
            anchors=("$1" "$2")
            shift 2
            ;;
        --all) names+=("${all_gpus[@]}") ;;
        amd) names+=("${amd_gpus[@]}") ;;
        ptxas) names+=("${ptxas_gpus[@]}") ;;
        ocloc) names+=("${ocloc_gpus[@]}") ;;
        *)
            gpu_variable "$word" >/dev/null
            names+=("$word")
            ;;
        esac
    done
    ((${#names[@]} > 0)) || names=("${usual_gpus[@]}")
    setup_build "${test_packages[@]}"
    setup_drivers optional
    find_python
    for word in "${names[@]}"; do
        setup_gpu "$word"
    done
    command_build default weft-compile -DWEFT_BUILD_TESTS=ON
    command_build default weft-pipelines
    command_build default weft-ptxas
    command_build default weft-ocloc
    write_pipelines || die "the pipelines could not be written"
    for word in "${names[@]}"; do
        case $(gpu_driver "$word") in
        ptxas) ptxas+=("$word") ;;
        ocloc) ocloc+=("$word") ;;
        *)
            mesa+=("$word")
            compile_gpu "$word" || failed+=("$word")
            ;;
        esac
    done
    ((${#ptxas[@]} == 0)) || compile_vendor ptxas "$(ptxas_folder)" "${ptxas[@]}" || failed+=("${ptxas[@]}")
    ((${#ocloc[@]} == 0)) || compile_vendor ocloc "$deps/ocloc/bin" "${ocloc[@]}" || failed+=("${ocloc[@]}")
    ((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
    [[ -z $commit ]] || compile_commit "$commit" "${names[@]}"
    python3 bench/compilers/report.py "${options[@]}" build/gpus "${names[@]}"
    if ((${#anchors[@]} > 0)); then
        compile_anchors "${anchors[@]}" "${mesa[@]}" || die "the table of others' shaders could not be made"
        say "bench/compilers/anchors.md"
    fi
}
