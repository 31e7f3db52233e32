# SPDX-License-Identifier: MIT
#
# The pages: links and citations lead somewhere, code that a page shows is the code of the files it links to, the number of
# cases is that of their hashes, and the man page and the completions have what `weft help` has.

weft_add_host_test(pages.links LABELS pages COMMAND "${CMAKE_COMMAND}" -P tests/cmake/links.cmake)
weft_add_host_test(pages.case_count LABELS pages COMMAND "${CMAKE_COMMAND}" -P tests/cmake/case_count.cmake)
foreach(page README docs/programming runtime/mixers/README api/examples/mixer/README)
    string(TOLOWER "${page}" name)
    string(REPLACE "/" "." name "${name}")
    weft_add_host_test(pages.code.${name} LABELS pages
        COMMAND "${CMAKE_COMMAND}" -DPAGE=${page}.md -P tests/cmake/page.cmake)
endforeach()

# That the first test notices: a page with a broken link and a broken anchor, a comment that cites no page, and one
# that cites a section that is not there.
set(weft_broken "${CMAKE_CURRENT_BINARY_DIR}/broken-pages")
file(WRITE "${weft_broken}/README.md" "# One\n\n[two](two.md) [three](#three)\n\n## 4. Four\n")
file(WRITE "${weft_broken}/api/a.c" "/* gone.md */\n/* README.md, section 4 */\n/* README.md, section 5 */\n")
foreach(broken "links to two\\.md" "links to #three" "names gone\\.md" "cites README\\.md, section 5")
    string(MAKE_C_IDENTIFIER "${broken}" name)
    weft_add_host_test(pages.broken.${name} LABELS pages
        COMMAND "${CMAKE_COMMAND}" "-DROOT=${weft_broken}" -P tests/cmake/links.cmake)
    set_tests_properties(pages.broken.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${broken}")
endforeach()
weft_add_host_test(pages.broken.not_section_4 LABELS pages
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${weft_broken}" -P tests/cmake/links.cmake)
set_tests_properties(pages.broken.not_section_4 PROPERTIES
    PASS_REGULAR_EXPRESSION "Broken references" FAIL_REGULAR_EXPRESSION "section 4")

# What a stranger types first; and that the test notices other lines, and words for an index.
weft_add_host_test(pages.install LABELS pages COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" -P tests/cmake/install.cmake)
set(weft_broken_install "${CMAKE_CURRENT_BINARY_DIR}/broken-install")
file(WRITE "${weft_broken_install}/packaging/install.txt" "    tar xf weft.tar\n")
file(WRITE "${weft_broken_install}/README.md" "## Install\n\n```\ntar xf other.tar\n```\n")
file(WRITE "${weft_broken_install}/api/a.py" "\"\"\"It needs `pip install 'weft[ray]'`.\"\"\"\n")
foreach(broken "has not: tar xf other\\.tar" "a\\.py: no index has Weft")
    string(MAKE_C_IDENTIFIER "${broken}" name)
    weft_add_host_test(pages.broken.${name} LABELS pages
        COMMAND "${CMAKE_COMMAND}" "-DROOT=${weft_broken_install}" -P tests/cmake/install.cmake)
    set_tests_properties(pages.broken.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${broken}")
endforeach()

find_program(WEFT_BASH bash)
mark_as_advanced(WEFT_BASH)
if(WEFT_BUILD_CLI AND WEFT_BASH)
    weft_add_host_test(pages.usage LABELS pages
        COMMAND "${CMAKE_COMMAND}" "-DWEFT=$<TARGET_FILE:weft-cli>" "-DBASH=${WEFT_BASH}" -P tests/cmake/usage.cmake)
endif()
