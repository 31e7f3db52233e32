# SPDX-License-Identifier: MIT
#
# The processor's compiler with other LLVMs than that of the headers: those that are installed, and libraries that are none. A version that
# WEFT_LLVM names has no other take its place, so that what runs here ran with it.

# Before anything that this machine may lack.
set(weft_llvm_tests native_compile native_dots native_shapes)
weft_named_tests(unit ${weft_llvm_tests})
if(NOT WEFT_HAVE_LLVM OR WIN32)
    return()
endif()

if(TARGET weft-tests-unit)
    foreach(version 14 15 19 23)
        add_library(weft-fake-llvm-${version} SHARED "${CMAKE_CURRENT_SOURCE_DIR}/llvm/fake.c")
        weft_compile_options(weft-fake-llvm-${version})
        target_compile_definitions(weft-fake-llvm-${version} PRIVATE WEFT_FAKE_LLVM=${version})
        set_target_properties(weft-fake-llvm-${version} PROPERTIES
            LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/fake-llvm")
        add_dependencies(weft-tests-unit weft-fake-llvm-${version})
    endforeach()
    set_property(SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/unit/test_llvm_choice.c" APPEND PROPERTY COMPILE_DEFINITIONS
        "WEFT_FAKE_LLVM=\"${PROJECT_BINARY_DIR}/tests/fake-llvm/libweft-fake-llvm-\"")
endif()

# Debian's: where else a library may be, the command finds out by itself.
string(REGEX MATCH "^[0-9]+" weft_llvm_major "${weft_llvm_version}")
set(weft_other_llvms "")
foreach(version RANGE ${weft_llvm_newest} ${weft_llvm_oldest} -1)
    file(GLOB found "/usr/lib/llvm-${version}/lib/libLLVM*.so*" "/usr/lib/*/libLLVM.so.${version}.1"
         "/usr/lib/*/libLLVM-${version}.so.1" "/usr/lib64/libLLVM.so.${version}.1" "/usr/lib/libLLVM.so.${version}.1")
    if(found AND NOT version EQUAL weft_llvm_major)
        list(APPEND weft_other_llvms ${version})
    endif()
endforeach()
if(NOT weft_other_llvms OR WEFT_SANITIZE OR NOT WEFT_BUILD_CLI)
    return()
endif()
list(JOIN weft_other_llvms ", " text)
message(STATUS "Kernels are compiled by LLVM ${text}, too, for tests")

# Each kernel in both modes, and for a change of shaders at each width and all cases (`./dev test cases`); in ./dev test a few, by the newest.
list(GET weft_other_llvms 0 weft_newest_llvm)
set(weft_other_widths ${weft_processors})
list(REMOVE_ITEM weft_other_widths processor-8)
foreach(version IN LISTS weft_other_llvms)
    set(verify "${CMAKE_COMMAND}" -E env WEFT_LLVM=${version} $<TARGET_FILE:weft-cli> verify --bits tests/data/bits --device all)
    weft_add_device_test(verify.cases.llvm-${version} DRIVERS processor-8 QUICK NONE LABELS cases COMMAND ${verify})
    weft_add_device_test(verify.cases.fused.llvm-${version} DRIVERS processor-8 QUICK NONE LABELS cases COMMAND ${verify} --math fused)
    weft_add_device_test(verify.cases.llvm-${version} DRIVERS ${weft_other_widths} QUICK NONE LABELS cases COMMAND ${verify} ${weft_kernel_list})
    weft_add_device_test(verify.llvm-${version} DRIVERS processor-8 QUICK NONE LABELS verify COMMAND ${verify} ${weft_kernel_list})
    weft_add_device_test(verify.fused.llvm-${version} DRIVERS processor-8 QUICK NONE LABELS verify
        COMMAND ${verify} --math fused ${weft_kernel_list})
    foreach(name IN LISTS weft_llvm_tests)
        if(TARGET weft-tests-unit)
            weft_add_device_test(unit.${name}.llvm-${version} DRIVERS processor-8 QUICK NONE LABELS unit
                COMMAND "${CMAKE_COMMAND}" -E env WEFT_LLVM=${version} $<TARGET_FILE:weft-tests-unit> ${name})
        endif()
    endforeach()
endforeach()
set(verify "${CMAKE_COMMAND}" -E env WEFT_LLVM=${weft_newest_llvm} $<TARGET_FILE:weft-cli> verify --bits tests/data/bits --device all
    --list "${weft_lists}/opencl.txt")
weft_add_device_test(verify.quick.llvm-${weft_newest_llvm} DRIVERS processor-8 LABELS verify short COMMAND ${verify})
weft_add_device_test(verify.fused.quick.llvm-${weft_newest_llvm} DRIVERS processor-8 LABELS verify short
    COMMAND ${verify} --math fused)
