# SPDX-License-Identifier: MIT
#
# The order of the layers, held to by reading the includes and the library's symbols: tests/house/layers.c has the order and
# the rules. That the test notices is shown on a copy of the tree with one include or symbol more.

add_executable(weft-layers "${CMAKE_CURRENT_SOURCE_DIR}/house/layers.c")
weft_compile_options(weft-layers)
file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/objects.txt" CONTENT "$<JOIN:${weft_all_objects},\n>\n")
weft_add_host_test(layers.order LABELS house
    COMMAND weft-layers . "${CMAKE_NM} -A -P -g @${CMAKE_CURRENT_BINARY_DIR}/objects.txt")
weft_add_host_test(layers.broken LABELS house
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:weft-layers>"
            "-DCOPY=${CMAKE_CURRENT_BINARY_DIR}/layers" -P tests/house/broken.cmake)

# Nothing is hidden in a static library: what the command links has names of its own, in libweft as in the command. That the
# test notices is shown by weft_core, whose objects are libweft's.
if(WEFT_BUILD_CLI AND NOT BUILD_SHARED_LIBS)
    set(weft_linked "$<TARGET_FILE:weft>;$<TARGET_FILE:weft_evaluator>;$<TARGET_FILE:weft_reference>;$<TARGET_OBJECTS:weft-cli-objects>;$<FILTER:$<TARGET_OBJECTS:weft-cli>,INCLUDE,main>")
    weft_add_host_test(globals.once LABELS house
        COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DFILES=${weft_linked}" -P tests/house/globals.cmake)
    weft_add_host_test(globals.twice LABELS house
        COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DFILES=${weft_linked};$<TARGET_FILE:weft_core>"
                -P tests/house/globals.cmake)
    set_tests_properties(globals.twice PROPERTIES
        PASS_REGULAR_EXPRESSION "weft_sha256_begin: [^ ]*libweft\\.a\\(hash[^ ]* and [^ ]*libweft_core\\.a\\(hash")
endif()

# What libweft takes of the C library, against what Android's has. The command takes more, which the test notices.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT WEFT_SANITIZE AND NOT BUILD_SHARED_LIBS)
    set(weft_c_library "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DLIST=${CMAKE_CURRENT_SOURCE_DIR}/house/c_library.txt")
    weft_add_host_test(c_library.functions LABELS house
        COMMAND ${weft_c_library} "-DFILES=$<TARGET_FILE:weft>" -P tests/house/c_library.cmake)
    if(WEFT_BUILD_CLI)
        weft_add_host_test(c_library.more LABELS house
            COMMAND ${weft_c_library} "-DFILES=$<TARGET_FILE:weft>;$<TARGET_OBJECTS:weft-cli-objects>"
                    -P tests/house/c_library.cmake)
        set_tests_properties(c_library.more PROPERTIES PASS_REGULAR_EXPRESSION "not in.*printf")
    endif()
endif()

# Tests write into folders of their own, and look for what is absent in an empty one. That it is noticed is shown by a sample.
weft_add_host_test(places.sources LABELS house
    COMMAND "${CMAKE_COMMAND}" "-DFOLDERS=tests;api/python/tests" -P tests/house/places.cmake)
weft_add_host_test(places.noticed LABELS house
    COMMAND "${CMAKE_COMMAND}" "-DSAMPLE=${CMAKE_CURRENT_BINARY_DIR}/places" -P tests/house/places.cmake)
set_tests_properties(places.noticed PROPERTIES PASS_REGULAR_EXPRESSION "sample\\.c: \"/nonexistent[^:]*sample\\.c: \"/tmp")

# Constants in our shaders are the same whoever compiles them.
set(weft_folded "${CMAKE_COMMAND}" "-DVALIDATOR=${WEFT_GLSLANG_VALIDATOR}" "-DSHADERS=${PROJECT_SOURCE_DIR}/shaders"
    "-DNUMBERS=${weft_numbers_dir}")
weft_add_host_test(folded.shaders LABELS house COMMAND ${weft_folded} -P tests/house/folded.cmake)
weft_add_host_test(folded.noticed LABELS house
    COMMAND ${weft_folded} "-DSAMPLE=${CMAKE_CURRENT_BINARY_DIR}/folded.comp" -P tests/house/folded.cmake)
set_tests_properties(folded.noticed PROPERTIES PASS_REGULAR_EXPRESSION "folded\\.comp[ \n]+calls[ \n]+exp")

# The program's float state does not come into the library: every public function begins by leaving it.
weft_add_host_test(entries.all LABELS house COMMAND "${CMAKE_COMMAND}" -P tests/house/entries.cmake)
weft_add_host_test(entries.missing LABELS house
    COMMAND "${CMAKE_COMMAND}" -DWITHOUT=weft_plan_run -P tests/house/entries.cmake)
set_tests_properties(entries.missing PROPERTIES PASS_REGULAR_EXPRESSION "WEFT_ENTER:[ \n]+weft_plan_run[ \n]")

# The command prints in one place, which makes harmless what files of others say.
weft_add_host_test(prints.harmless LABELS house COMMAND "${CMAKE_COMMAND}" -DROOT=. -P tests/house/prints.cmake)
weft_add_host_test(prints.noticed LABELS house
    COMMAND "${CMAKE_COMMAND}" -DROOT=. "-DSAMPLE=${CMAKE_CURRENT_BINARY_DIR}/prints.c" -P tests/house/prints.cmake)
set_tests_properties(prints.noticed PROPERTIES PASS_REGULAR_EXPRESSION "prints\\.c calls printf")

# Scripts do not fail by chance because a reader ended before its writer.
weft_add_host_test(pipes.whole LABELS house COMMAND "${CMAKE_COMMAND}" -DROOT=. -P tests/house/pipes.cmake)
weft_add_host_test(pipes.noticed LABELS house
    COMMAND "${CMAKE_COMMAND}" -DROOT=. "-DSAMPLE=${CMAKE_CURRENT_BINARY_DIR}/pipes.sh" -P tests/house/pipes.cmake)
set_tests_properties(pipes.noticed PROPERTIES PASS_REGULAR_EXPRESSION "pipes\\.sh pipes into head")

# No test runs on all drivers without a reason.
set(weft_registered "${CMAKE_CURRENT_BINARY_DIR}/registered.txt") # order.cmake writes it
weft_add_host_test(drivers.reasons LABELS house COMMAND "${CMAKE_COMMAND}" "-DLIST=${weft_registered}" -P tests/house/drivers.cmake)
weft_add_host_test(drivers.noticed LABELS house
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${weft_registered}" -DMORE=unit.core.lavapipe-4 -P tests/house/drivers.cmake)
set_tests_properties(drivers.noticed PROPERTIES PASS_REGULAR_EXPRESSION "without a reason:[ \n]+unit\\.core\\.lavapipe-4")

# No list names a test that does not exist: configuration fails at one.
weft_add_host_test(named.noticed LABELS house COMMAND "${CMAKE_COMMAND}" "-DNAMED=unit;cpu_compile" -P tests/cmake/named.cmake)
set_tests_properties(named.noticed PROPERTIES PASS_REGULAR_EXPRESSION "names unit\\.cpu_compile, and there is no[ \n]+tests/unit/test_cpu_compile\\.c")

# What SECURITY.md says is fuzzed is, and the other way round.
weft_add_host_test(fuzzers.listed LABELS house COMMAND "${CMAKE_COMMAND}" -P tests/house/fuzzers.cmake)
weft_add_host_test(fuzzers.missing LABELS house COMMAND "${CMAKE_COMMAND}" -DWITHOUT=npz -P tests/house/fuzzers.cmake)
set_tests_properties(fuzzers.missing PROPERTIES PASS_REGULAR_EXPRESSION "lacks: npz")

# What a build for Windows calls of LLVM goes through a bridge under Wine, which cannot pass everything.
if(WEFT_HAVE_LLVM)
    function(weft_add_bridge_test name)
        weft_add_host_test(${name} LABELS house
            COMMAND "${CMAKE_COMMAND}" "-DFUNCTIONS=${weft_llvm_dir}/llvm_functions.h" "-DHEADERS=${weft_llvm_include_dirs}"
                    "-DMAJOR=${weft_llvm_major}" "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${name}" ${ARGN} -P tests/windows/llvm_bridge.cmake)
    endfunction()
    weft_add_bridge_test(bridge.passes)
    weft_add_bridge_test(bridge.callbacks -DMORE=LLVMContextSetYieldCallback)
    weft_add_bridge_test(bridge.arguments -DMORE=LLVMDIBuilderCreateFunction)
    set_tests_properties(bridge.callbacks PROPERTIES PASS_REGULAR_EXPRESSION "YieldCallback: it calls back")
    set_tests_properties(bridge.arguments PROPERTIES PASS_REGULAR_EXPRESSION "CreateFunction: 1[0-9] arguments")
endif()

# A room grows by a decision.
weft_add_host_test(size.rooms LABELS house COMMAND "${CMAKE_COMMAND}" -DLIST=tests/house/size.txt -P tests/house/size.cmake)
weft_add_host_test(size.noticed LABELS house
    COMMAND "${CMAKE_COMMAND}" -DLIST=tests/house/size.txt -DTAKE=200 -P tests/house/size.cmake)
set_tests_properties(size.noticed PROPERTIES PASS_REGULAR_EXPRESSION "runtime/null/ has [0-9]+ lines")
