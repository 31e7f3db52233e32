# SPDX-License-Identifier: MIT
#
# An AMD GPU in software (tests/amd): kernels' OpenCL C, compiled by clang for the AMDGPU target, is executed instruction by instruction.
# An OpenCL library has it as its device, so that the command does everything with it that it does with a GPU.

find_program(WEFT_AMD_CLANG NAMES clang-15 clang-16 clang-14 clang)
find_package(OpenCL QUIET)
if(NOT WEFT_HAVE_LLVM OR NOT EXISTS "${weft_llvm_path}" OR NOT WEFT_AMD_CLANG OR NOT OpenCL_FOUND OR WEFT_SANITIZE OR CMAKE_CROSSCOMPILING)
    return()
endif()
include(CheckLibraryExists)
check_library_exists("${weft_llvm_path}" LLVMInitializeAMDGPUDisassembler "" WEFT_AMD_DISASSEMBLER)
if(NOT WEFT_AMD_DISASSEMBLER)
    return()
endif()

set(weft_amd_sources access carry code_object compare control counts decode float integer lane local matrix memory metadata operand parse scalar vector wave)
list(TRANSFORM weft_amd_sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/amd/")
list(TRANSFORM weft_amd_sources APPEND ".c")
add_library(weft-amd STATIC ${weft_amd_sources})
weft_compile_options(weft-amd)
# Lanes are loops that become vectors. The rounding mode of the host may be the GPU's.
target_compile_options(weft-amd PRIVATE -O3 -ffp-contract=off -frounding-math)
target_include_directories(weft-amd SYSTEM PRIVATE ${weft_llvm_include_dirs})
target_link_libraries(weft-amd PRIVATE "${weft_llvm_path}" m)
set_target_properties(weft-amd PROPERTIES POSITION_INDEPENDENT_CODE ON)

set(weft_amd_definitions _XOPEN_SOURCE=700 "WEFT_AMD_CLANG=\"${WEFT_AMD_CLANG}\""
    "WEFT_AMD_HEADER=\"${CMAKE_CURRENT_SOURCE_DIR}/amd/amdgcn.cl\"" "WEFT_AMD_FOLDER=\"${PROJECT_BINARY_DIR}/tests/amd\"" "WEFT_AMD_VERSION=\"LLVM ${weft_llvm_version}\"")
add_library(weft-amd-opencl SHARED amd/driver.c amd/driver_kernel.c amd/compile.c compilers/tool.c opencl/stand_in.c)
weft_compile_options(weft-amd-opencl)
target_include_directories(weft-amd-opencl PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_include_directories(weft-amd-opencl SYSTEM PRIVATE "${OpenCL_INCLUDE_DIRS}")
target_compile_definitions(weft-amd-opencl PRIVATE ${weft_amd_definitions})
target_link_libraries(weft-amd-opencl PRIVATE weft-amd)
set_target_properties(weft-amd-opencl PROPERTIES OUTPUT_NAME OpenCL SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/amd")

# Each instruction against AMD's formulas, code objects, waves and workgroups.
add_executable(weft-test-amd amd/test_code.c amd/test_main.c amd/test_memory.c amd/test_scalar.c amd/test_vector.c amd/compile.c
    compilers/tool.c)
weft_compile_options(weft-test-amd)
target_include_directories(weft-test-amd PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(weft-test-amd PRIVATE ${weft_amd_definitions})
target_link_libraries(weft-test-amd PRIVATE weft-amd PkgConfig::WEFT_CMOCKA m)
set_target_properties(weft-test-amd PROPERTIES OUTPUT_NAME instructions RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/amd")
weft_finish_program(weft-test-amd)
weft_add_host_test(gfx.instructions LABELS compilers COMMAND weft-test-amd)

# What Weft does on it. Each GPU is a driver like those of drivers.cmake.
if(NOT WEFT_BUILD_CLI)
    return()
endif()
foreach(gpu gfx1030 gfx1100 gfx906)
    set(weft_driver_env_${gpu} ${weft_opencl_alone} "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/tests/amd" "WEFT_AMD_GPU=${gpu}")
endforeach()

# The committed bits: of every kernel by waves of 32, in ./dev test some by waves of 64, and in fused mode by RDNA 3.
set(weft_gfx_verify ${weft_verify} --device all)
weft_add_device_test(gfx.kernels DRIVERS gfx1030 gfx1100 gfx906 QUICK gfx1030 LABELS verify
    COMMAND ${weft_gfx_verify} --list "${weft_lists}/kernels.txt")
weft_add_device_test(gfx.fused DRIVERS gfx1030 gfx1100 gfx906 QUICK NONE LABELS verify
    COMMAND ${weft_gfx_verify} --math fused --list "${weft_lists}/kernels.txt")
weft_add_device_test(gfx.quick DRIVERS gfx906 LABELS verify short COMMAND ${weft_gfx_verify} --list "${weft_lists}/opencl.txt")
weft_add_device_test(gfx.quick.fused DRIVERS gfx1100 LABELS verify short
    COMMAND ${weft_gfx_verify} --math fused --list "${weft_lists}/opencl.txt")

# weft_add_gfx_test(<name> <label> <environment> <argument of verify>...): on gfx1030, with a setting of tests/amd/driver.h.
function(weft_add_gfx_test name label setting)
    weft_add_device_test(gfx.${name} DRIVERS gfx1030 LABELS verify ${label}
        COMMAND "${CMAKE_COMMAND}" -E env "${setting}" "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache/gfx-${name}"
                $<TARGET_FILE:weft-cli> verify --bits tests/data/bits --device all ${ARGN})
endfunction()
# Nothing depends on what AMD's documents leave open: how v_rcp_f32 errs, in which order waves run, and when a result counts as subnormal.
weft_add_gfx_test(above long WEFT_AMD_SIDE=1 --list "${weft_lists}/opencl.txt")
weft_add_gfx_test(below long WEFT_AMD_SIDE=-1 --list "${weft_lists}/opencl.txt")
weft_add_gfx_test(order long WEFT_AMD_ORDER=last-first --list "${weft_lists}/opencl.txt")
weft_add_gfx_test(tiny long WEFT_AMD_TINY=before --list "${weft_lists}/opencl.txt")
# A broken rule is noticed: by the probe, which refuses a device that contracts.
weft_add_gfx_test(contracted "" WEFT_AMD_BREAK=contraction --filter affine/unit/rank=0)
set_tests_properties(gfx.contracted.gfx1030 PROPERTIES PASS_REGULAR_EXPRESSION "cannot be used with reproducible math: a \\* b \\+ c")
# Nor does it matter if the GPU does not flush: the probe finds that, and instructions do.
weft_add_gfx_test(unflushed long WEFT_AMD_BREAK=flush --list "${weft_lists}/opencl.txt")

# It says what it is, and is nobody's default.
add_test(NAME gfx.devices COMMAND "${CMAKE_COMMAND}" -E env --unset=WEFT_OPENCL $<TARGET_FILE:weft-cli> devices --all)
set_tests_properties(gfx.devices PROPERTIES LABELS cli
    ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/tests/amd;VK_DRIVER_FILES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json;VK_ICD_FILENAMES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json"
    PASS_REGULAR_EXPRESSION "emulated gfx1030 \\(tests only\\) [^\n]*yes, by name")
