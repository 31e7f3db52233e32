# SPDX-License-Identifier: MIT
#
# The evaluation of plans in plain C (api/verify/evaluator), for `weft verify` and the tests: target weft_evaluator.

file(GLOB weft_evaluator_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/api/verify/evaluator/*.c")
add_library(weft_evaluator STATIC ${weft_evaluator_sources})
target_include_directories(weft_evaluator PUBLIC "${PROJECT_SOURCE_DIR}/api")
weft_compile_options(weft_evaluator)
target_link_libraries(weft_evaluator PRIVATE weft_core weft::weft)
