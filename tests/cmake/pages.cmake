# SPDX-License-Identifier: MIT
#
# The pages: links and citations lead somewhere, code that a page shows is the code of the files it links to, the number of
# cases is that of their hashes, and the manual and the completions have what `weft help` has.

weft_add_host_test(pages.links LABELS pages COMMAND "${CMAKE_COMMAND}" -P tests/cmake/links.cmake)
weft_add_host_test(pages.case_count LABELS pages COMMAND "${CMAKE_COMMAND}" -P tests/cmake/case_count.cmake)
find_package(Python 3.9 QUIET COMPONENTS Interpreter)
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

# The site of ./dev docs has each page, and that this notices one that is not in it.
if(Python_Interpreter_FOUND)
    weft_add_host_test(pages.site LABELS pages COMMAND "${Python_EXECUTABLE}" -B tests/house/site.py)
    weft_add_host_test(pages.site.noticed LABELS pages COMMAND "${Python_EXECUTABLE}" -B tests/house/site.py docs/new.md)
    set_tests_properties(pages.site.noticed PROPERTIES PASS_REGULAR_EXPRESSION "lacks .'docs/new.md'")
endif()

# One sentence says what Weft is; and that a file with another one is noticed.
set(weft_sentence "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" -P tests/house/sentence.cmake)
weft_add_host_test(pages.sentence LABELS pages COMMAND ${weft_sentence})
list(INSERT weft_sentence 1 "-DSENTENCE=Something else")
weft_add_host_test(pages.broken.sentence LABELS pages COMMAND ${weft_sentence})
set_tests_properties(pages.broken.sentence PROPERTIES
    PASS_REGULAR_EXPRESSION "pyproject.toml does not[ \n]+say what Weft is")

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

# The manual and the shells that are here, and that each notices an option that it lacks.
if(WEFT_BUILD_CLI AND Python_Interpreter_FOUND AND NOT WIN32)
    foreach(of manual bash zsh fish)
        if(NOT of STREQUAL "manual")
            find_program(WEFT_SHELL_${of} ${of})
            mark_as_advanced(WEFT_SHELL_${of})
            if(NOT WEFT_SHELL_${of})
                continue()
            endif()
        endif()
        set(weft_usage "${Python_EXECUTABLE}" -B tests/house/usage.py "$<TARGET_FILE:weft-cli>" ${of})
        weft_add_host_test(pages.usage.${of} LABELS pages COMMAND ${weft_usage})
        weft_add_host_test(pages.usage.${of}.noticed LABELS pages COMMAND ${weft_usage} --unheard-of)
        set_tests_properties(pages.usage.${of}.noticed PROPERTIES PASS_REGULAR_EXPRESSION "weft run in ${of}: .*--unheard-of")
    endforeach()
endif()
