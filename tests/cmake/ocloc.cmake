# SPDX-License-Identifier: MIT
#
# Intel's own compiler, ocloc, for GPUs that are not here: each kernel, as OpenCL C, becomes machine code of Arc A (dg2) and Battlemage (bmg)
# that keeps to the rules of reproducible and fused math. It is Debian unstable's, with that release's C library: these tests are there
# where ./dev gpus ocloc has unpacked it.

set(WEFT_OCLOC "${PROJECT_SOURCE_DIR}/build/deps/ocloc/bin/ocloc" CACHE FILEPATH "Intel's ocloc for tests (default: what ./dev gpus ocloc has fetched)")
if(NOT TARGET weft-ocloc OR NOT EXISTS "${WEFT_OCLOC}")
    return()
endif()
cmake_path(GET WEFT_OCLOC PARENT_PATH weft_ocloc_dir)

# weft_add_ocloc_test(<name> <pipelines> [option...])
function(weft_add_ocloc_test name pipelines)
    set(targets "")
    foreach(gpu dg2 bmg)
        list(APPEND targets "${gpu}=${weft_pipelines_dir}/ocloc/${name}/${gpu}")
    endforeach()
    add_test(NAME "ocloc.${name}"
        COMMAND weft-ocloc "${weft_pipelines_dir}/${pipelines}" ${targets} --tools "${weft_ocloc_dir}" --check ${ARGN}
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("ocloc.${name}" PROPERTIES
        FIXTURES_REQUIRED weft_pipelines_${pipelines} LABELS "compilers;long")
endfunction()

weft_add_ocloc_test(reproducible kernels)
weft_add_ocloc_test(fused fused)
weft_add_ocloc_test(apart fused --apart)
# A broken rule is found, for each GPU.
foreach(rule contraction flush)
    weft_add_ocloc_test(broken.${rule} kernels --only elementwise-affine --break ${rule})
    set(found "")
    foreach(gpu dg2 bmg)
        string(APPEND found "${gpu}, ocloc [0-9.]+: [0-9]+ pipelines, [1-9][0-9]* of them against the rules.*")
    endforeach()
    set_tests_properties(ocloc.broken.${rule} PROPERTIES PASS_REGULAR_EXPRESSION "${found}")
endforeach()
