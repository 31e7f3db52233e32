# SPDX-License-Identifier: MIT
#
# What `weft verify`, and of some kinds `weft certify`, find of a driver that lies (tests/lying): lying.KIND and lying.certify.KIND must be
# caught, and lying.honest never is.

if(NOT TARGET weft_vulkan OR NOT WEFT_BUILD_CLI OR NOT WEFT_HAVE_LLVM OR WEFT_SANITIZE)
    return()
endif()

add_library(weft_lying MODULE "${CMAKE_CURRENT_SOURCE_DIR}/driver/icd.c" ${weft_any_driver_sources}
    "${CMAKE_CURRENT_SOURCE_DIR}/lying/backend.c" "${CMAKE_CURRENT_SOURCE_DIR}/lying/modules.c"
    "${CMAKE_CURRENT_SOURCE_DIR}/lying/streams.c")
weft_compile_options(weft_lying)
target_link_libraries(weft_lying PRIVATE weft_internal)
target_include_directories(weft_lying PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_options(weft_lying PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(weft_lying PROPERTIES
    LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/lying")
set(weft_lying_manifest "${CMAKE_CURRENT_BINARY_DIR}/lying/lying.json")
file(GENERATE OUTPUT "${weft_lying_manifest}" CONTENT
"{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"$<TARGET_FILE:weft_lying>\", \"api_version\": \"1.2.0\"}}
")

# weft_add_lying_test(<name> <kind of lie> <runs> <label> -DFILTER=text | -DSECONDS=number)
function(weft_add_lying_test name lie runs label what)
    add_test(NAME "lying.${name}"
        COMMAND "${CMAKE_COMMAND}" -DPROGRAM=$<TARGET_FILE:weft-cli> -DLIE=${lie} -DRUNS=${runs} ${what}
                "-DCACHE=${CMAKE_CURRENT_BINARY_DIR}/lying/cache-${name}"
                -P "${CMAKE_CURRENT_SOURCE_DIR}/lying/lying.cmake"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("lying.${name}" PROPERTIES LABELS "cli;${label}"
        ENVIRONMENT "${weft_test_env};XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/lying/cache-${name};VK_DRIVER_FILES=${weft_lying_manifest};VK_ICD_FILENAMES=${weft_lying_manifest};WEFT_PROCESSOR=0;WEFT_OPENCL=0;WEFT_LIE_AFTER=300")
endfunction()

# Cases that show each kind soon. The probe refuses a device that loses barriers, has too little shared memory or adds in another order.
set(weft_shown_by_product matmul/random)
set(weft_shown_by_workgroup softmax/unit/rank=2,rows=65537)
set(weft_shown_by_contraction matmul/random,a,b/)
set(weft_shown_by_stale softmax/side)
set(weft_shown_by_barrier softmax/side)
set(weft_shown_by_shared softmax/side)
set(weft_shown_by_warm softmax/side)
set(weft_shown_by_order softmax/side)
set(weft_shown_by_dot int8_weights/int8/product,bT/int8-tiled)
set(weft_shown_by_narrow matmul/a,b/unit/m=1)
foreach(lie product workgroup contraction stale barrier shared warm order dot narrow)
    weft_add_lying_test(${lie} ${lie} 1 command -DFILTER=${weft_shown_by_${lie}})
endforeach()
foreach(lie product contraction barrier shared warm order)
    weft_add_lying_test(certify.${lie} ${lie} 1 long -DSECONDS=90)
endforeach()
weft_add_lying_test(honest honest 2 command -DFILTER=softmax/unit/rank=2,rows=3)
weft_add_lying_test(honest.often honest 20 long -DFILTER=softmax/unit/rank=2,rows=3)
weft_add_lying_test(certify.honest honest 1 long -DSECONDS=90)
