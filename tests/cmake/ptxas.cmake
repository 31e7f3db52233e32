# SPDX-License-Identifier: MIT
#
# NVIDIA's own compiler, ptxas, for GPUs that are not here: each kernel, as OpenCL C and then PTX, becomes machine code that keeps to the
# rules of reproducible and fused math on four architectures, Turing to Blackwell. ./dev test fetches ptxas and nvdisasm from PyPI.

set(WEFT_PTXAS_DIR "" CACHE PATH "NVIDIA's ptxas and nvdisasm for tests (default: what ./dev test has fetched)")
file(GLOB weft_ptxas_dirs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/build/deps/nvidia/lib/python*/site-packages/nvidia/*/bin")
find_program(WEFT_PTXAS ptxas PATHS "${WEFT_PTXAS_DIR}" ${weft_ptxas_dirs} NO_DEFAULT_PATH)
find_program(WEFT_PTXAS_CLANG NAMES clang clang-19 clang-16 clang-15 clang-14)
if(NOT TARGET weft-ptxas OR NOT WEFT_PTXAS OR NOT WEFT_PTXAS_CLANG)
    return()
endif()
cmake_path(GET WEFT_PTXAS PARENT_PATH weft_ptxas_dir)

# weft_add_ptxas_test(<name> <pipelines> <architectures> <label> [option...])
function(weft_add_ptxas_test name pipelines architectures label)
    set(targets "")
    foreach(architecture IN LISTS architectures)
        list(APPEND targets "${architecture}=${weft_pipelines_dir}/ptxas/${name}/${architecture}")
    endforeach()
    add_test(NAME "ptxas.${name}"
        COMMAND weft-ptxas "${weft_pipelines_dir}/${pipelines}" ${targets} --tools "${weft_ptxas_dir}"
                --clang "${WEFT_PTXAS_CLANG}" --check ${ARGN}
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("ptxas.${name}" PROPERTIES
        FIXTURES_REQUIRED weft_pipelines_${pipelines} LABELS "compilers;${label}")
endfunction()

set(all sm_75 sm_80 sm_90 sm_120)
weft_add_ptxas_test(reproducible kernels "${all}" long)
weft_add_ptxas_test(fused fused "${all}" long)
weft_add_ptxas_test(apart fused "sm_75;sm_120" long --apart)
# ./dev test has some kernels, for the oldest and the newest.
weft_add_ptxas_test(quick.reproducible kernels "sm_75;sm_120" short --only matmul-tiled,softmax-softmax)
weft_add_ptxas_test(quick.fused fused "sm_75;sm_120" short --only matmul-tiled)
# A broken rule is found, on each architecture.
set(rules contraction flush)
set(labels compilers long)
foreach(rule label IN ZIP_LISTS rules labels)
    weft_add_ptxas_test(broken.${rule} kernels "${all}" ${label} --only elementwise-affine --break ${rule})
    set(found "")
    foreach(architecture IN LISTS all)
        string(APPEND found "${architecture}, ptxas [0-9.]+: [0-9]+ pipelines, [1-9][0-9]* of them against the rules.*")
    endforeach()
    set_tests_properties(ptxas.broken.${rule} PROPERTIES PASS_REGULAR_EXPRESSION "${found}")
endforeach()
