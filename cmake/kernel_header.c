/* SPDX-License-Identifier: MIT */
/*
 * kernel-header NAME REPRODUCIBLE.spv FAST.spv OUTPUT: run by the build for each shader. Writes, from the two modules of
 * shaders/NAME.comp, or from one that is named twice,
 *   OUTPUT.h              its interface: a struct of arguments by name, and its constants
 *   OUTPUT.inc            a C initialiser of struct weft_shader and the arrays behind it
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "shader/shader.h"
#include "spirv/cooperative.h"
#include "spirv/reflect.h"

struct kernel {
    const char *name;   /* matmul/tiled */
    char symbol[128];   /* matmul_tiled */
    char capitals[128]; /* MATMUL_TILED */
    struct weft_shader_interface interface;
    bool one_module;
};

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", message);
}

static const weft_host host = {.log = print_log};

static void capitals(char *target, const char *name) {
    while ((*target++ = (char)toupper((unsigned char)*name++)) != '\0') {
    }
}

static const char *type_name(enum weft_field_type type) {
    return type == WEFT_FIELD_F32 ? "float" : type == WEFT_FIELD_I32 ? "int32_t" : "uint32_t";
}

/* ---- the header ---- */

static void print_member(FILE *out, const char *type, const char *name, const char *comment) {
    fprintf(out, "        %s %s;%s%s%s\n", type, name, comment[0] ? " /* " : "", comment,
            comment[0] ? " */" : "");
}

static void print_arguments(FILE *out, const struct kernel *kernel) {
    const struct weft_shader_interface *interface = &kernel->interface;
    const struct weft_shader_field *push = weft_shader_push(interface);
    const struct weft_shader_field *binding = weft_shader_bindings(interface);
    const struct weft_shader_field *constant = weft_shader_constants(interface);
    fprintf(out, "struct weft_%s_args {\n", kernel->symbol);
    if (interface->push_count > 0) {
        fprintf(out, "    struct {\n");
        for (uint32_t i = 0; i < interface->push_count; i++) {
            print_member(out, type_name(push[i].type), push[i].name,
                         push[i].place == interface->groups_x ? "filled in by the launch" : "");
        }
        fprintf(out, "    } push;\n");
    }
    fprintf(out, "    struct {\n");
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        print_member(out, "uint32_t", binding[i].name,
                     !binding[i].writes ? "read"
                     : binding[i].reads ? "read and written"
                                        : "written");
    }
    fprintf(out, "    } bind; /* storages */\n");
    if (interface->constant_count > 0) {
        fprintf(out, "    struct {\n");
        for (uint32_t i = 0; i < interface->constant_count; i++) {
            char comment[64];
            snprintf(comment, sizeof comment, "constant_id %u", constant[i].place);
            print_member(out, type_name(constant[i].type), constant[i].name, comment);
        }
        fprintf(out, "    } constant;\n");
    }
    fprintf(out, "};\n\n");
}

static void print_constants(FILE *out, const struct kernel *kernel) {
    const struct weft_shader_interface *interface = &kernel->interface;
    const struct weft_shader_field *tile = weft_shader_tiles(interface);
    const struct weft_shader_field *fixed = weft_shader_fixed(interface);
    char name[WEFT_FIELD_NAME_SIZE];
    fprintf(out,
            "enum {\n    /* how many fields of the struct a dispatch gives: all but the launch's "
            "own */\n"
            "    weft_%s_fields = %u,\n",
            kernel->symbol,
            interface->push_count - (interface->groups_x != UINT32_MAX) + interface->binding_count +
                interface->constant_count);
    for (uint32_t i = 0; i < 3; i++) {
        fprintf(out, "    WEFT_%s_LOCAL_%c = %u,\n", kernel->capitals, "XYZ"[i],
                interface -> local_size[i]);
    }
    for (uint32_t i = 0; i < interface->tile_count; i++) {
        capitals(name, tile[i].name);
        fprintf(out, "    WEFT_%s_TILE_%s = %u, /* its default; a row may give another */\n",
                kernel->capitals, name, tile[i].value);
        fprintf(out, "    WEFT_%s_AT_TILE_%s = %u,\n", kernel->capitals, name, i);
    }
    for (uint32_t i = 0; i < interface->fixed_count; i++) {
        capitals(name, fixed[i].name);
        fprintf(out, "    WEFT_%s_%s = %u,\n", kernel->capitals, name, fixed[i].value);
    }
    fprintf(out, "};\n\n");
}

static void print_asserts(FILE *out, const struct kernel *kernel) {
    const struct weft_shader_interface *interface = &kernel->interface;
    const struct weft_shader_field *push = weft_shader_push(interface);
    for (uint32_t i = 0; i < interface->push_count; i++) {
        fprintf(
            out,
            "static_assert(offsetof(struct weft_%s_args, push.%s) == %u, \"as in the shader\");\n",
            kernel->symbol, push[i].name, push[i].place);
    }
    fprintf(out,
            "static_assert(sizeof(struct weft_%s_args) == %u, \"words, one behind the other\");\n",
            kernel->symbol,
            interface->push_size + 4 * (interface->binding_count + interface->constant_count));
}

static bool write_header(const struct kernel *kernel, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    fprintf(out,
            "/* Generated from the kernel %s by cmake/kernel_header.c. */\n"
            "#ifndef WEFT_KERNELS_%s_H\n#define WEFT_KERNELS_%s_H\n\n"
            "#include <assert.h>\n#include <stddef.h>\n\n#include \"shader/shader.h\"\n\n"
            "extern const struct weft_shader weft_shader_%s;\n\n",
            kernel->name, kernel->capitals, kernel->capitals, kernel->symbol);
    print_arguments(out, kernel);
    print_constants(out, kernel);
    print_asserts(out, kernel);
    fprintf(out, "\n#endif\n");
    return fclose(out) == 0;
}

/* ---- the object ---- */

static void print_words(FILE *out, const char *mode, const struct kernel *kernel,
                        const struct weft_spirv *module) {
    fprintf(out, "static const uint32_t weft_%s_%s[] = {\n", kernel->symbol, mode);
    for (size_t i = 0; i < module->size / 4; i++) {
        fprintf(out, "0x%08x,%s", module->words[i], i % 8 == 7 ? "\n" : "");
    }
    fprintf(out, "};\n");
}

static void print_fields(FILE *out, const struct kernel *kernel) {
    const struct weft_shader_interface *interface = &kernel->interface;
    const uint32_t count = interface->push_count + interface->binding_count +
                           interface->constant_count + interface->tile_count +
                           interface->fixed_count;
    fprintf(out, "static const struct weft_shader_field weft_%s_field[] = {\n", kernel->symbol);
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_shader_field *field = &interface->fields[i];
        fprintf(out, "{\"%s\", (enum weft_field_type)%d, %uu, %uu, %d, %d},\n", field->name,
                (int)field->type, field->place, field->value, field->reads, field->writes);
    }
    fprintf(out, "};\n");
}

static bool write_object(const struct kernel *kernel, const struct weft_spirv *reproducible,
                         const struct weft_spirv *fast, const char *path) {
    const struct weft_shader_interface *interface = &kernel->interface;
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    /* Where fast math has nothing to gain, one module is for both. */
    const bool same = reproducible->size == fast->size &&
                      memcmp(reproducible->words, fast->words, fast->size) == 0;
    const char *fast_mode = same ? "reproducible" : "fast";
    print_words(out, "reproducible", kernel, reproducible);
    if (!same) {
        print_words(out, fast_mode, kernel, fast);
    }
    print_fields(out, kernel);
    fprintf(out,
            "const struct weft_shader weft_shader_%s = {\n"
            ".name = \"%s\",\n"
            ".reproducible = {weft_%s_reproducible, sizeof weft_%s_reproducible},\n"
            ".fast = {weft_%s_%s, sizeof weft_%s_%s},\n"
            ".one_module = %d,\n"
            ".interface = {.fields = weft_%s_field, .push_count = %u, .binding_count = %u,\n"
            ".constant_count = %u, .tile_count = %u, .fixed_count = %u, .push_size = %u,\n"
            ".groups_x = %uu, .local_size = {%u, %u, %u}}};\n",
            kernel->symbol, kernel->name, kernel->symbol, kernel->symbol, kernel->symbol, fast_mode,
            kernel->symbol, fast_mode, (int)kernel->one_module, kernel->symbol,
            interface->push_count, interface->binding_count, interface->constant_count,
            interface->tile_count, interface->fixed_count, interface->push_size,
            interface->groups_x, interface->local_size[0], interface->local_size[1],
            interface->local_size[2]);
    return fclose(out) == 0;
}

/* ---- the modules ---- */

static uint32_t *read_module(size_t *count, const char *path) {
    FILE *in = fopen(path, "rb");
    uint32_t *words = NULL;
    size_t capacity = 0;
    *count = 0;
    while (in && !feof(in)) {
        capacity = capacity ? 2 * capacity : 16384;
        uint32_t *more = realloc(words, capacity * sizeof *words);
        if (!more) {
            break;
        }
        words = more;
        *count += fread(words + *count, sizeof *words, capacity - *count, in);
        if (ferror(in)) {
            break;
        }
    }
    const bool whole = in && feof(in);
    if (in) {
        fclose(in);
    }
    if (!whole) {
        free(words);
        return NULL;
    }
    return words;
}

static weft_status reflect(struct kernel *kernel, const struct weft_spirv *reproducible,
                           const struct weft_spirv *fast) {
    struct weft_shader_interface other;
    WEFT_TRY(weft_spirv_reflect(&kernel->interface, kernel->name, reproducible->words,
                                reproducible->size, &host));
    WEFT_TRY(weft_spirv_reflect(&other, kernel->name, fast->words, fast->size, &host));
    const weft_status status =
        weft_shader_interface_merge(&kernel->interface, &other, kernel->name, &host);
    weft_shader_interface_free(&other, &host);
    return status;
}

static bool run(const char *name, const char *const paths[2], const char *output) {
    struct kernel kernel = {.name = name, .one_module = strcmp(paths[0], paths[1]) == 0};
    struct weft_spirv modules[2] = {{0}};
    uint32_t *words[2] = {NULL, NULL};
    char path[4096];
    bool good = strlen(name) < sizeof kernel.symbol;
    for (int i = 0; good && i < 2; i++) {
        size_t count = 0;
        words[i] = read_module(&count, paths[i]);
        size_t size = 4 * count;
        good = words[i] && weft_cooperative_translate(&words[i], &size, &host) == WEFT_OK;
        modules[i] = (struct weft_spirv){words[i], size};
    }
    good = good && reflect(&kernel, &modules[0], &modules[1]) == WEFT_OK;
    for (int i = 0; good && i < 2; i++) {
        modules[i].size = 4 * weft_spirv_strip(words[i], words[i], modules[i].size / 4);
    }
    if (good) {
        for (size_t i = 0; i <= strlen(name); i++) {
            kernel.symbol[i] = name[i] == '/' ? '_' : name[i];
        }
        capitals(kernel.capitals, kernel.symbol);
        snprintf(path, sizeof path, "%s.h", output);
        good = write_header(&kernel, path);
        snprintf(path, sizeof path, "%s.inc", output);
        good = good && write_object(&kernel, &modules[0], &modules[1], path);
    }
    weft_shader_interface_free(&kernel.interface, &host);
    free(words[0]);
    free(words[1]);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s NAME REPRODUCIBLE.spv FAST.spv OUTPUT\n", argv[0]);
        return 2;
    }
    const char *const paths[2] = {argv[2], argv[3]};
    if (!run(argv[1], paths, argv[4])) {
        fprintf(stderr, "kernel-header: %s: no interface was written\n", argv[1]);
        return 1;
    }
    return 0;
}
