# SPDX-License-Identifier: MIT
#
# An AMD GPU in software (tests/amd): kernels' OpenCL C, compiled by clang for the AMDGPU target, is executed instruction by instruction.
# An OpenCL library has it as its device, so that the command does everything with it that it does with a GPU.

find_program(WEFT_AMD_CLANG NAMES clang-15 clang-16 clang-14 clang)
find_package(OpenCL QUIET)
if(NOT WEFT_HAVE_LLVM OR NOT WEFT_AMD_CLANG OR NOT OpenCL_FOUND OR WEFT_SANITIZE)
    return()
endif()

set(weft_amd_sources access carry code_object compare control decode float integer lane local memory metadata operand parse scalar vector wave)
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
add_library(weft-amd-opencl SHARED amd/driver.c amd/driver_kernel.c amd/compile.c amd/counts.c compilers/tool.c)
weft_compile_options(weft-amd-opencl)
target_include_directories(weft-amd-opencl PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
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
