# SPDX-License-Identifier: MIT
#
# Machine code of GPUs that are not here keeps to the rules of reproducible math: every pipeline of the cases of quick.txt, which
# execute every kernel with each value of its constants, goes through the compilers that WEFT_COMPILERS_DIR has manifests of, like
# those of drivers. They compile and cannot run.

set(WEFT_COMPILERS_DIR "${PROJECT_SOURCE_DIR}/build/deps/compilers" CACHE PATH
    "Manifests of Vulkan drivers that compile for GPUs without having one (./dev setup writes them)")

# The rules themselves need no compiler.
add_executable(weft-test-compilers-rules compilers/test_rules.c compilers/listing.c compilers/modes.c compilers/multiply_adds.c
    compilers/ocloc.c compilers/ocloc_text.c compilers/rules.c compilers/sass.c compilers/sass_text.c)
weft_compile_options(weft-test-compilers-rules)
target_link_libraries(weft-test-compilers-rules PRIVATE weft_test_support)
set_target_properties(weft-test-compilers-rules PROPERTIES
    OUTPUT_NAME rules RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/compilers")
weft_finish_program(weft-test-compilers-rules)
add_test(NAME compilers.rules COMMAND weft-test-compilers-rules)
set_tests_properties(compilers.rules PROPERTIES LABELS compilers)

file(GLOB weft_compilers CONFIGURE_DEPENDS "${WEFT_COMPILERS_DIR}/*.json")
if(NOT weft_compilers OR NOT WEFT_BUILD_CLI OR WEFT_SANITIZE OR NOT "lavapipe-8" IN_LIST weft_drivers)
    return()
endif()

# weft-pipelines: which pipelines there are; weft-compile: what compilers make of them.
function(weft_add_compiler_tool target)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/compilers/" REGEX "\\.c$" OUTPUT_VARIABLE sources)
    add_executable(${target} ${sources})
    weft_compile_options(${target})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/api")
    target_compile_definitions(${target} PRIVATE _XOPEN_SOURCE=700) # folders
    target_link_libraries(${target} PRIVATE weft_evaluator weft_reference weft_internal m)
    set_target_properties(${target} PROPERTIES
        LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/compilers")
    weft_finish_program(${target})
endfunction()
weft_add_compiler_tool(weft-pipelines pipelines.c $<TARGET_OBJECTS:weft-cli-objects>)
set(rules multiply_adds.c ocloc.c ocloc_text.c rules.c sass.c)
weft_add_compiler_tool(weft-compile compile.c apart.c modes.c source.c taken.c ${rules} $<TARGET_OBJECTS:weft-cli-objects>)
set(vendor vendor.c vendor_batch.c apart.c listing.c source.c text.c tool.c ${rules})
weft_add_compiler_tool(weft-ptxas ptxas_tools.c sass_text.c ${vendor})
weft_add_compiler_tool(weft-ocloc ocloc_tools.c ${vendor})

set(weft_pipelines_dir "${CMAKE_CURRENT_BINARY_DIR}/compilers/pipelines")

# weft_add_pipelines(<name> <mode> <list>): what weft-pipelines writes, from scratch: the kernels that GPUs get. Nothing is timed, for
# which of two kernels is faster here differs from run to run, and the lists are compared.
function(weft_add_pipelines name math list)
    set(folder "${weft_pipelines_dir}/${name}")
    add_test(NAME "compilers.clear.${name}" COMMAND "${CMAKE_COMMAND}" -E rm -rf "${folder}")
    add_test(NAME "compilers.pipelines.${name}" COMMAND weft-pipelines "${folder}" ${math} "${list}" compile-only
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("compilers.clear.${name}" PROPERTIES
        FIXTURES_SETUP weft_clear_${name} LABELS compilers)
    set_tests_properties("compilers.pipelines.${name}" PROPERTIES
        ENVIRONMENT "${weft_driver_env_lavapipe-8}" FIXTURES_REQUIRED weft_clear_${name}
        FIXTURES_SETUP weft_pipelines_${name} LABELS compilers)
endfunction()

# ./dev test has a case for each kernel, on one GPU.
weft_add_pipelines(reproducible reproducible "${weft_lists}/quick.txt")
weft_add_pipelines(kernels reproducible "${weft_lists}/kernels.txt")
add_test(NAME compilers.lists
    COMMAND "${CMAKE_COMMAND}" "-DWHOLE=${weft_pipelines_dir}/reproducible" "-DLIST=${weft_pipelines_dir}/kernels"
            -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/lists.cmake")
add_test(NAME compilers.lists.missing
    COMMAND "${CMAKE_COMMAND}" "-DWHOLE=${weft_pipelines_dir}/reproducible" "-DLIST=${CMAKE_CURRENT_BINARY_DIR}/none"
            -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/lists.cmake")
set_tests_properties(compilers.lists compilers.lists.missing PROPERTIES
    FIXTURES_REQUIRED "weft_pipelines_reproducible;weft_pipelines_kernels" LABELS compilers)
set_tests_properties(compilers.lists.missing PROPERTIES PASS_REGULAR_EXPRESSION "activation-activation;")
weft_add_pipelines(fast fast "${weft_lists}/kernels.txt")
weft_add_pipelines(fused fused "${weft_lists}/kernels.txt")

list(GET weft_compilers -1 weft_quick_compiler)
foreach(manifest IN LISTS weft_compilers)
    cmake_path(GET manifest STEM name)
    weft_read_driver(env "${manifest}")
    set(labels compilers)
    if(manifest STREQUAL weft_quick_compiler)
        add_test(NAME "compilers.quick.${name}"
            COMMAND weft-compile "${weft_pipelines_dir}/kernels" "${weft_pipelines_dir}/${name}-kernels" --check)
        set_tests_properties("compilers.quick.${name}" PROPERTIES
            ENVIRONMENT "${env}" FIXTURES_REQUIRED weft_pipelines_kernels LABELS "compilers;short")
    else()
        list(APPEND labels long)
    endif()
    add_test(NAME "compilers.${name}"
        COMMAND weft-compile "${weft_pipelines_dir}/reproducible" "${weft_pipelines_dir}/${name}" --check)
    # Of fused math each Fma stays one operation. Mesa's compiler for GCN makes two of it, which has to be noticed: there it is made by 64-bit
    # floats.
    set(fma_env "${env}")
    if(name MATCHES "vega")
        list(APPEND fma_env "WEFT_FMA=float64")
    endif()
    add_test(NAME "compilers.fused.${name}"
        COMMAND weft-compile "${weft_pipelines_dir}/fused" "${weft_pipelines_dir}/${name}-fused" --check)
    add_test(NAME "compilers.apart.${name}"
        COMMAND weft-compile "${weft_pipelines_dir}/fused" "${weft_pipelines_dir}/${name}-apart" --check --apart)
    set_tests_properties("compilers.fused.${name}" PROPERTIES ENVIRONMENT "${fma_env}")
    set_tests_properties("compilers.apart.${name}" PROPERTIES ENVIRONMENT "${env}")
    set_tests_properties("compilers.fused.${name}" "compilers.apart.${name}" PROPERTIES
        FIXTURES_REQUIRED weft_pipelines_fused LABELS "${labels}")
    if(name MATCHES "vega")
        set_tests_properties("compilers.apart.${name}" PROPERTIES PASS_REGULAR_EXPRESSION " 0 multiply-adds fused.*, [1-9][0-9]* split")
    endif()
    # Contraction let through, as fast mode does, has to be noticed.
    add_test(NAME "compilers.contracted.${name}"
        COMMAND weft-compile "${weft_pipelines_dir}/fast" "${weft_pipelines_dir}/${name}-fast" --check)
    # The command says what such a device is, inspects with it, and refuses to run on it.
    set(model "${PROJECT_SOURCE_DIR}/tests/data/fnet/classify_d36_l2_gelu")
    set(listings "${weft_pipelines_dir}/${name}-listings")
    add_test(NAME "compilers.devices.${name}" COMMAND weft-cli devices)
    add_test(NAME "compilers.refusal.${name}" COMMAND weft-cli inspect "${model}" --pipelines)
    add_test(NAME "compilers.inspect.${name}" COMMAND weft-cli inspect "${model}" --compile-only --isa "${listings}")
    set_tests_properties("compilers.devices.${name}" "compilers.refusal.${name}" PROPERTIES
        PASS_REGULAR_EXPRESSION "has no memory: it can be opened for compiling only")
    set_tests_properties("compilers.inspect.${name}" PROPERTIES
        PASS_REGULAR_EXPRESSION "matmul/tiled [0-9 ]+ 64 +[1-9][0-9]* +0 +[1-9]")
    set_tests_properties("compilers.devices.${name}" "compilers.refusal.${name}" "compilers.inspect.${name}" PROPERTIES
        ENVIRONMENT "${env}" LABELS "${labels}")
    set_tests_properties("compilers.${name}" PROPERTIES
        ENVIRONMENT "${env}" FIXTURES_REQUIRED weft_pipelines_reproducible LABELS "compilers;long")
    set_tests_properties("compilers.contracted.${name}" PROPERTIES
        ENVIRONMENT "${env}" FIXTURES_REQUIRED weft_pipelines_fast LABELS "${labels}"
        PASS_REGULAR_EXPRESSION "[1-9][0-9]* of them against the rules")
endforeach()
