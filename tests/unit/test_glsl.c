/* SPDX-License-Identifier: MIT */
/* GLSL compiled at run time: includes, modes, messages, the cache. */
#include <pthread.h>
#include <unistd.h>

#include "core/system/disk_cache.h"
#include "device/device.h"
#include "shader/embedded.h"
#include "shader/glsl.h"
#include "shader/glsl_include.h"
#include "spirv/check.h"
#include "spirv/index.h"
#include "support.h"

/* The compiler takes from a device its host, mode and cache folder; no driver is involved. */
static weft_device bare_device(struct weft_test_host *host, weft_math math) {
    weft_test_host_reset(host);
    return (weft_device){.host = host->host, .math = math};
}

static void assert_compiles(weft_device *device, const char *text) {
    uint32_t *words = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_compile(&words, &size, device, "kernel", text));
    assert_ok(weft_spirv_check(words, size, &device->host));
    struct weft_spirv_module module;
    assert_ok(weft_spirv_read(&module, words, size, &device->host));
    assert_true(weft_spirv_find_compute(&module, "main") != 0);
    weft_spirv_module_free(&module);
    assert_int_equal(words[1], 0x10300);
    weft_free(&device->host, words);
}

static void assert_fails(weft_device *device, struct weft_test_host *host, const char *text,
                         const char *expected) {
    uint32_t *words = (uint32_t *)(void *)device;
    size_t size = 5;
    assert_int_equal(weft_glsl_compile(&words, &size, device, "kernel", text), WEFT_COMPILE_ERROR);
    assert_ptr_equal(words, device);
    assert_int_equal(size, 5);
    weft_test_expect_log(host, "error: ", expected);
}

WEFT_TEST_ON_HOST(test_modes, host) {
    static const char fast_only[] = "#version 450\n"
                                    "#if !defined(WEFT_MATH_FAST) || WEFT_MATH_FAST != 1\n"
                                    "#error not fast\n"
                                    "#endif\n"
                                    "layout(local_size_x = 1) in;\n"
                                    "void main() {}\n";
    weft_device device = bare_device(host, WEFT_MATH_FAST);
    assert_compiles(&device, fast_only);
    assert_int_equal(device.stats.shaders_compiled, 1);
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, fast_only, "not fast");
    assert_int_equal(device.stats.shaders_compiled, 0);
}

/* A message names the line of the caller's text, in each mode and behind an include. */
WEFT_TEST_ON_HOST(test_messages, host) {
    static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FAST};
    for (size_t i = 0; i < 2; i++) {
        weft_device device = bare_device(host, modes[i]);
        assert_fails(&device, host, "#version 450\nvoid main() {\n    nowhere = 1;\n}\n",
                     "kernel:3: 'nowhere'");
        assert_true(weft_test_log_count(host, "error") >= 2);
        weft_test_expect_log(host, "kernel: compiling failed");
        char text[512];
        snprintf(text, sizeof text,
                 "#version 450\n\n#include \"%s\"\n\n\nlost line\nvoid main(){}\n",
                 weft_embedded_includes[0].name);
        device = bare_device(host, modes[i]);
        assert_fails(&device, host, text, "kernel:6: ");
    }
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "", "kernel: ");
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "#version 450\nvoid other() {}\n", "kernel: ");
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "#version 450\n#include \"nowhere.glsl\"\nvoid main() {}\n",
                 "kernel:2: ");
}

/* A message about an included file names that file: a macro of the text makes the file fail. */
WEFT_TEST_ON_HOST(test_message_in_include, host) {
    char text[256];
    snprintf(text, sizeof text, "#version 450\n#define float 17\n#include \"%s\"\nvoid main() {}\n",
             weft_embedded_includes[0].name);
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    /* Whether it is that file or one that it includes in its turn. */
    assert_fails(&device, host, text, ".glsl:");
    bool named = false;
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        char prefix[128];
        snprintf(prefix, sizeof prefix, "kernel: %s:", weft_embedded_includes[i].name);
        named |= weft_test_log_has(host, prefix);
    }
    assert_true(named);
}

static weft_status expand(char **expanded, size_t *size, const char *text,
                          const struct weft_embedded_include *includes, uint32_t count,
                          const weft_host *host) {
    const struct weft_glsl_source source = {
        .name = "kernel", .text = text, .includes = includes, .include_count = count};
    return weft_glsl_expand(expanded, size, &source, host);
}

/* The first directive that was put in place of an include: "#line 1 1", "#error", or "" where there is none. */
static const char *expands(const char *text) {
    char *expanded = NULL;
    size_t size = 0;
    assert_ok(expand(&expanded, &size, text, NULL, 0, NULL));
    assert_int_equal(size, strlen(expanded));
    const char *found = strstr(expanded, "#line 1 1\n") ? "#line 1 1"
                        : strstr(expanded, "#error")    ? "#error"
                                                        : "";
    weft_free(NULL, expanded);
    return found;
}

WEFT_TEST(test_include_lines) {
    assert_true(weft_embedded_include_count > 0);
    const char *name = weft_embedded_includes[0].name;
    static const struct {
        const char *before, *after;
        const char *found;
    } cases[] = {
        {"#include \"", "\"\n", "#line 1 1"},
        {"#include \"", "\"", "#line 1 1"},
        {"#include\"", "\"", "#line 1 1"},
        {" \t# \tinclude\t\"", "\" // why\n", "#line 1 1"},
        {"#include <", ">\r\n", "#line 1 1"},
        {"a\r#include <", ">\rb", "#line 1 1"},
        {"a /* b */\n#include \"", "\"\n", "#line 1 1"},
        {"// a /*\n#include \"", "\"\n", "#line 1 1"},
        {"/* a // */\n#include \"", "\"\n", "#line 1 1"},
        {"/* a */ # /* b */ include /* c */ \"", "\" /* d */\n", "#line 1 1"},
        {"/* a\n b */#include \"", "\"\n", "#line 1 1"},
        {"#inc\\\nlu\\\r\nde \\\n \"", "\"\n", "#line 1 1"},
        {"#\\\n\\\ninclude \"", "\"\n", "#line 1 1"},
        {"/\\\n*\n#include \"", "\"\n*\\\n/", ""},
        {"/*\n#include \"", "\"\n*/\n", ""},
        {"// a \\\n#include \"", "\"\n", ""},
        {"// #include \"", "\"\n", ""},
        {"#includes \"", "\"\n", ""},
        {"#include2 \"", "\"\n", ""},
        {"#include_ \"", "\"\n", ""},
        {"a #include \"", "\"\n", ""},
        {"#include ", "\n", "#error"},
        {"#include \"", "\n", "#error"},
        {"#include <", "\"\n", "#error"},
        {"#include \"", "\" and more\n", "#error"},
        {"#include \"x", "\"\n", "#error"},
        {"#include \"./", "\"\n", "#error"},
        {"#include \" ", "\"\n", "#error"},
        {"#include \"a//", "\"\n", "#error"},
        {"#define N \"x\"\n#include N // ", "", "#error"},
        {"/* without an end ", "", "#error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s%s", cases[i].before, name, cases[i].after);
        assert_string_equal(expands(text), cases[i].found);
    }
}

/* What is left of a text: lines where they were, and nothing that an include could hide behind. */
WEFT_TEST(test_plain_text) {
    static const char *const cases[][2] = {
        {"a\nb", "a\nb"},
        {"a // c\nb", "a  \nb"},
        {"a//c", "a "},
        {"a/*c*/b", "a b"},
        {"a /*\n\n*/ b\nc", "a   b\n\n\nc"},
        {"a\\\nb\nc", "ab\n\nc"},
        {"a\r\nb\rc\n\rd", "a\nb\nc\n\nd"},
        {"a \\ b\\", "a \\ b\\ "},
        {"/\\\n/ c \\\n c\nb", " \n\n\nb"},
        {"\\//c\n#x", "\\ \n#x"}, /* joins no lines */
        {"/\\\n/**/*", " "},      /* a line comment */
        {"a /**/ / b /***/ c", "a   / b   c"},
        {"\"a // b\"", "\"a  "},
        {"a/", "a/"},
        {"a\\\\\n\nb", "a\\ \n\nb"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *expanded = NULL;
        size_t size = 0;
        assert_ok(expand(&expanded, &size, cases[i][0], NULL, 0, NULL));
        assert_string_equal(expanded, cases[i][1]);
        weft_free(NULL, expanded);
    }
}

/* Every file that is built in can be included, twice, and after others. */
WEFT_TEST_ON_HOST(test_every_include, host) {
    char all[4096] = "#version 450\nlayout(local_size_x = 1) in;\n";
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "#include \"%s\"\n#include \"%s\"\n",
                 weft_embedded_includes[i].name, weft_embedded_includes[i].name);
    }
    char *expanded = NULL;
    size_t size = 0;
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_ok(expand(&expanded, &size, all, NULL, 0, &device.host));
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        assert_true(size > weft_embedded_includes[i].size);
    }
    assert_null(strstr(expanded, "#include"));
    weft_free(&device.host, expanded);
}

WEFT_TEST_ON_HOST(test_too_large, host) {
    /* As many copies of a file as 16 MiB do not hold. */
    char line[128];
    snprintf(line, sizeof line, "#include \"%s\"\n", weft_embedded_includes[0].name);
    size_t length = strlen(line);
    size_t copies = ((size_t)16 << 20) / weft_embedded_includes[0].size + 1;
    char *text = malloc(copies * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < copies; i++) {
        memcpy(text + i * length, line, length + 1);
    }
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    char *expanded = NULL;
    size_t size = 0;
    assert_int_equal(expand(&expanded, &size, text, NULL, 0, &device.host), WEFT_COMPILE_ERROR);
    assert_null(expanded);
    assert_int_equal(weft_test_log_count(host, "error"), 1);
    free(text);
}

/* ---- includes that come with a shader ---- */

static struct weft_embedded_include include_of(const char *name, const char *text) {
    return (struct weft_embedded_include){.name = name, .text = text, .size = strlen(text)};
}

static weft_status compile_with(weft_device *device, const char *text,
                                const struct weft_embedded_include *includes, uint32_t count) {
    uint32_t *words = NULL;
    size_t size = 0;
    const struct weft_glsl_source source = {
        .name = "kernel", .text = text, .includes = includes, .include_count = count};
    const weft_status status = weft_glsl_compile_source(&words, &size, device, &source);
    weft_free(&device->host, words);
    return status;
}

#define START    "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
#define MAIN     "layout(local_size_x = FACTOR) in;\nvoid main() {}\n"
#define MINE     START "#include \"mine.glsl\"\n" MAIN
#define ASKED(n) "#define FACTOR " n "\n"

/* The text that was given, whether or not there is such a file; its contents are in the key of the cache. */
WEFT_TEST_ON_HOST(test_given_includes, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_ok(weft_cache_create(&device.cache, weft_test_folder(), 0, &device.host));
    const struct weft_embedded_include two = include_of("mine.glsl", ASKED("2")),
                                       three = include_of("mine.glsl", ASKED("3")),
                                       nested[] = {include_of("a", "#include <b>\n"),
                                                   include_of("b", ASKED("2"))};
    assert_ok(compile_with(&device, MINE, &two, 1));
    assert_int_equal(device.stats.shaders_compiled, 1);
    assert_ok(compile_with(&device, MINE, &two, 1));
    assert_int_equal(device.stats.shaders_compiled, 1);
    assert_ok(compile_with(&device, MINE, &three, 1));
    assert_int_equal(device.stats.shaders_compiled, 2);
    assert_ok(compile_with(&device, START "#include \"a\"\n" MAIN, nested, 2));
    assert_int_equal(device.stats.shaders_compiled, 3);
    /* What is there twice is in there twice; guards are the text's own business. */
    const struct weft_embedded_include guarded =
        include_of("mine.glsl", "#ifndef FACTOR\n" ASKED("2") "#endif");
    assert_ok(compile_with(&device, START "#include \"mine.glsl\"\n#include \"mine.glsl\"\n" MAIN,
                           &guarded, 1));
    weft_cache_destroy(&device.cache, &device.host);
}

/* Messages name the include and its line. */
WEFT_TEST_ON_HOST(test_message_in_given_include, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    const struct weft_embedded_include includes[] = {include_of("first", "\n"),
                                                     include_of("second", "\n\nlost line\n")};
    assert_int_equal(
        compile_with(&device, "#version 450\n#include \"second\"\nvoid main() {}\n", includes, 2),
        WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "error: kernel: second:3:");
}

/*
 * Nothing of the file system: however the directive is written, a file of that name, in the current folder or by its path, is
 * not read, and no message tells what is in it. With it, each of these would compile, or tell its words.
 */
WEFT_TEST_ON_HOST(test_files_are_not_opened, host) {
    static const char secret[] = "secret_word";
    char *folder = weft_test_folder();
    char *path = weft_test_write(folder, "mine.glsl", secret, sizeof secret - 1);
    static const char *const forms[] = {
        "#include \"%s\"\n",
        "#include <%s>\n",
        "#include \"%s\" and more\n",
        " \t#\t include\"%s\"\n",
        "/**/#/**/include/**/\"%s\"\n",
        "/*\n*/#include \"%s\"\n",
        "#inc\\\nlude \"%s\"\n",
        "\\\n#include \"%s\"\n",
        "#\\\r\ninclude \"%s\"\n",
        "int a;\r#include \"%s\"\r",
        "#define NAME \"%s\"\n#include NAME\n",
        "#define INCLUDE #include \"%s\"\nINCLUDE\n",
        "// \\ \n#include \"%s\"\n",
        "/\\\n/ c\n#include \"%s\"\n",
        "\"/*\"\n#include \"%s\"\n",
        "\\/**/\n#include \"%s\"\n",
        "\v#include \"%s\"\n",
        "#line 7\n#include \"%s\"\n",
        "#if 1\n#include \"%s\"\n#endif\n",
        "#ifdef NOTHING\n#else\n#include \"%s\"\n#endif\n",
    };
    static const char *const versions[] = {"#version 450\n", "#version 310 es\n", ""};
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t v = 0; v < 3; v++) {
            const char *const names[] = {"mine.glsl", path};
            for (size_t n = 0; n < 2; n++) {
                char form[256], text[2048];
                snprintf(form, sizeof form,
                         "%s#extension GL_GOOGLE_include_directive : require\n%s", versions[v],
                         forms[i]);
                /* The only conversion of each form. */
                const char *at = strstr(form, "%s\"") ? strstr(form, "%s\"") : strstr(form, "%s>");
                snprintf(text, sizeof text, "%.*s%s%s", (int)(at - form), form, names[n], at + 2);
                weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
                assert_int_equal(compile_with(&device, text, NULL, 0), WEFT_COMPILE_ERROR);
                assert_false(weft_test_log_has(host, secret));
            }
        }
    }
    assert_int_equal(chdir(before), 0);
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_int_equal(compile_with(&device, MINE, NULL, 0), WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "error: kernel:3:", "mine.glsl", "files are not opened");
}

/* A line that an #if leaves out includes nothing, and is no error. */
WEFT_TEST_ON_HOST(test_includes_that_are_left_out, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_compiles(&device, START "#if 0\n#include \"other/program.h\"\n#include OF(another)\n"
                                   "#endif\n" ASKED("1") MAIN);
}

/* glslang prints all of its declarations where it cannot parse them, as of version 140. It is not asked. */
WEFT_TEST_ON_HOST(test_versions, host) {
    static const struct {
        const char *version;
        bool compiles;
    } cases[] = {
        {"#version 430", true},
        {"#version 450", true},
        {"#version 460 core", true},
        {" # version 310 es", true},
        {"#version 320 es", true},
        {"#version 110", false},
        {"#version 140", false},
        {"#version 420", false},
        {"#version 300 es", false},
        {"#version 0140", false},
        {"#version 4294967436", false},
        {"#version", false},
        {"int a;\n#/**/ver\\\nsion 140", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
        char text[256];
        snprintf(text, sizeof text, "%s\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
                 cases[i].version);
        assert_int_equal(compile_with(&device, text, NULL, 0),
                         cases[i].compiles ? WEFT_OK : WEFT_COMPILE_ERROR);
        if (!cases[i].compiles) {
            weft_test_expect_log(host, "error: kernel:", "compute shaders begin with 430");
        }
    }
}

WEFT_TEST_ON_HOST(test_includes_end, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    const struct weft_embedded_include self = include_of("mine.glsl", "#include \"mine.glsl\"\n"),
                                       pair[] = {include_of("mine.glsl", "#include \"b\"\n"),
                                                 include_of("b", "\n#include \"mine.glsl\"\n")};
    assert_int_equal(compile_with(&device, MINE, &self, 1), WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "kernel: mine.glsl includes itself");
    weft_test_host_reset(host);
    assert_int_equal(compile_with(&device, MINE, pair, 2), WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "kernel: mine.glsl includes itself");
    /* A chain of 64 compiles, one of 65 does not. */
    struct weft_embedded_include chain[65];
    for (uint32_t i = 0; i < 65; i++) {
        chain[i] = include_of(weft_test_text(i == 0 ? "mine.glsl" : "chain-%u", i),
                              weft_test_text("#include \"chain-%u\"\n", i + 1));
    }
    const struct weft_embedded_include last = chain[63];
    chain[63] = include_of(last.name, ASKED("1"));
    assert_ok(compile_with(&device, MINE, chain, 64));
    chain[63] = last;
    chain[64] = include_of(chain[64].name, ASKED("1"));
    assert_int_equal(compile_with(&device, MINE, chain, 65), WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "chain-64 is included by more than 64 texts");
    /* Each of a few texts includes the next eight times: 8^12 lines are never made. */
    for (uint32_t i = 0; i < 12; i++) {
        const char *next = weft_test_text("#include \"chain-%u\"\n", i + 1);
        chain[i] = include_of(chain[i].name, weft_test_text("%s%s%s%s%s%s%s%s", next, next, next,
                                                            next, next, next, next, next));
    }
    chain[12] = include_of(chain[12].name, "\n");
    weft_test_host_reset(host);
    assert_int_equal(compile_with(&device, MINE, chain, 13), WEFT_COMPILE_ERROR);
    weft_test_expect_log(host, "more than 16777216 bytes once its includes are in");
}

WEFT_TEST_ON_HOST(test_bad_includes, host) {
    static struct weft_embedded_include many[WEFT_MAX_GLSL_INCLUDES + 1];
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    const char *taken = weft_embedded_includes[0].name;
    const struct {
        struct weft_embedded_include includes[2];
        const char *message;
    } cases[] = {
        {{{.text = "", .name = NULL}, include_of("b", "")}, "include 0 has no name or no text"},
        {{include_of("a", ""), include_of("", "")}, "include 1 has no name or no text"},
        {{include_of("a", ""), {.name = "b"}}, "include 1 has no name or no text"},
        {{include_of("a", "x"), include_of("a", "")}, "include 1, \"a\": that name is there twice"},
        {{include_of(taken, ""), include_of("b", "")}, "that is one of Weft's own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_test_host_reset(host);
        assert_int_equal(compile_with(&device, MINE, cases[i].includes, 2), WEFT_INVALID_ARGUMENT);
        weft_test_expect_log(host, "error: kernel: include ", cases[i].message);
    }
    assert_int_equal(compile_with(&device, MINE, many, WEFT_MAX_GLSL_INCLUDES + 1),
                     WEFT_INVALID_ARGUMENT);
    weft_test_expect_log(host, "257 includes, of at most 256");
}

WEFT_TEST_ON_HOST(test_cache, host) {
    static const char text[] = "#version 450\nlayout(local_size_x = 3) in;\nvoid main() {}\n";
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_ok(weft_cache_create(&device.cache, weft_test_folder(), 0, &device.host));
    assert_compiles(&device, text);
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 1);
    device.math = WEFT_MATH_FAST; /* another mode is another entry */
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 2);
    assert_compiles(&device, "#version 450\nlayout(local_size_x = 4) in;\nvoid main() {}\n");
    assert_int_equal(device.stats.shaders_compiled, 3);
    /* What does not compile is not kept. */
    assert_fails(&device, host, "#version 450\nvoid main() { x; }\n", "kernel:2: ");
    assert_fails(&device, host, "#version 450\nvoid main() { x; }\n", "kernel:2: ");
    weft_cache_destroy(&device.cache, &device.host);
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 4);
}

WEFT_TEST_ON_HOST(test_lost_device, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    device.lost = true;
    uint32_t *words = NULL;
    size_t size = 0;
    assert_int_equal(weft_glsl_compile(&words, &size, &device, "kernel", "#version 450\n"),
                     WEFT_DEVICE_LOST);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    char text[256];
    snprintf(text, sizeof text,
             "#version 450\n#include \"%s\"\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
             weft_embedded_includes[0].name);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    test->fail_rest = true;
    while (weft_test_next_failure(test, status)) {
        weft_device device = {.host = test->host};
        uint32_t *words = NULL;
        size_t size = 0;
        status = weft_glsl_compile(&words, &size, &device, "kernel", text);
        assert_int_equal(words != NULL, status == WEFT_OK);
        weft_free(&device.host, words);
    }
    assert_in_range(test->failures, 2, 49);
}

static void *compile_some(void *user) {
    uint32_t *compiled = user;
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE};
    for (int i = 0; i < 5; i++) {
        uint32_t *words = NULL;
        size_t size = 0;
        const char *text = i % 2 == 0
                               ? "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n"
                               : "#version 450\nvoid main() { broken }\n";
        (void)weft_glsl_compile(&words, &size, &device, "kernel", text);
        weft_free(NULL, words);
    }
    *compiled = device.stats.shaders_compiled;
    return NULL;
}

/* glslang is not thread safe; devices in different threads are. */
WEFT_TEST(test_threads) {
    pthread_t threads[4];
    uint32_t compiled[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compile_some, &compiled[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(compiled[i], 3);
    }
}
