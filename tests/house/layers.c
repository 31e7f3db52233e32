/* SPDX-License-Identifier: MIT */
/*
 * layers ROOT [COMMAND]: reads every #include of the C and C++ below ROOT's runtime, api and bench, and fails on one that
 *   - goes up in the order of `layers`, or sideways to another layer of the same rank, or from graphs to devices;
 *   - reaches, from a program, for something of the library that is neither public nor weft_core;
 *   - goes from one mixer (or op) to what belongs to another: a file that defines a row of the op list includes no
 *     header whose own .c defines one;
 *   - goes to tests/;
 *   - closes a cycle of files, where X.c and X.h are one file, X.
 * COMMAND prints the global symbols of the library's objects, as `nm -A -P -g` does: one that an object takes from
 * another's is held to the same order, since a declaration can be written without an include.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 512
#define MAX_FILES 4096
#define MAX_EDGES 32768
#define MAX_NAMES 32768

/* ---- the order ---- */

enum {
    MATH = 1,
    CORE,
    SYSTEM,
    FORMATS,
    UNICODE,
    TOKENS,
    REGEX,
    SPM,
    JSON,
    TOKENIZER,
    SPIRV,
    INTERPRET,
    NATIVE,
    JOBS,
    SOFTVK,
    BACK_END,
    DEVICE,
    SHADER,
    GRAPH,
    LOWER,
    OPS,
    MIXERS,
    PLAN,
    FILES,
    NETWORK,
    PROGRAM,
    EMBEDDING,
    MODEL,
    TEXTS,
    SPEECH,
    RECEIPTS,
    EVALUATOR,
    VERIFY,
    PROGRAMS
};

struct layer {
    const char *folder;
    int rank; /* includes go to a lower rank, or stay in the folder or among the programs */
};

/*
 * The first row that fits counts: rooms of a folder and single files come before the folder. Programs are one layer: bench/ prints by
 * api/cli, which calls it.
 */
static const struct layer layers[] = {
    {"runtime/core/math/", MATH},
    {"runtime/core/system/", SYSTEM},
    {"runtime/core/formats/", FORMATS},
    {"runtime/core/", CORE},
    {"runtime/tokenizer/unicode/", UNICODE},
    {"runtime/tokenizer/regex/", REGEX},
    {"runtime/tokenizer/spm/", SPM},
    {"runtime/tokenizer/json/", JSON},
    {"runtime/tokenizer/tokenizer.", TOKENIZER},
    {"runtime/tokenizer/", TOKENS},
    {"runtime/spirv/", SPIRV},
    {"runtime/interpret/", INTERPRET},
    {"runtime/native/", NATIVE},
    {"runtime/jobs/", JOBS},
    {"runtime/softvk/", SOFTVK},
    {"runtime/processor/", BACK_END},
    {"runtime/null/", BACK_END},
    {"runtime/opencl/", BACK_END},
    {"runtime/device/", DEVICE},
    {"runtime/shader/", SHADER},
    {"runtime/features/", GRAPH},
    {"runtime/graph/", GRAPH},
    {"runtime/lower/", LOWER},
    {"runtime/ops/", OPS},
    {"runtime/mixers/", MIXERS},
    {"runtime/plan/", PLAN},
    {"runtime/model/files/", FILES},
    {"runtime/model/network/", NETWORK},
    {"runtime/model/program/", PROGRAM},
    {"runtime/model/embedding/", EMBEDDING},
    {"runtime/model/texts/", TEXTS},
    {"runtime/model/speech/", SPEECH},
    {"runtime/model/receipts/", RECEIPTS},
    {"runtime/model/", MODEL},
    {"runtime/sound/", SPEECH}, /* it uses core alone; its public header stands so high */
    {"api/verify/evaluator/", EVALUATOR},
    {"api/verify/", VERIFY},
    {"api/cli/", PROGRAMS},
    {"bench/", PROGRAMS},
    {"api/examples/", PROGRAMS},
    {"api/python/", PROGRAMS},
};

/* Public headers, each below those that may include it, and the lowest rank of the library that may. */
static const struct layer headers[] = {
    {"api/include/weft/weft.h", MATH},        {"api/include/weft/device.h", DEVICE},
    {"api/include/weft/buffer.h", DEVICE},    {"api/include/weft/external.h", DEVICE},
    {"api/include/weft/features.h", GRAPH},   {"api/include/weft/flt.h", GRAPH},
    {"api/include/weft/graph.h", GRAPH},      {"api/include/weft/inspect.h", LOWER},
    {"api/include/weft/op.h", GRAPH},         {"api/include/weft/vulkan.h", DEVICE},
    {"api/include/weft/mixers/", OPS},        {"api/include/weft/mixers.h", OPS},
    {"api/include/weft/decode.h", MIXERS},    {"api/include/weft/model.h", FILES},
    {"api/include/weft/generate.h", TEXTS},   {"api/include/weft/opencl.h", DEVICE},
    {"api/include/weft/arithmetic.h", OPS},   {"api/include/weft/movement.h", OPS},
    {"api/include/weft/receipt.h", RECEIPTS}, {"api/include/weft/texts.h", EMBEDDING},
    {"api/include/weft/speech.h", SPEECH},
};

/* What programs may include of the library besides public headers: that of which weft_core is made. */
static const char *const core[] = {"runtime/core/", "runtime/spirv/", "runtime/interpret/"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* A folder, or a file and its header. */
static bool is_prefix(const char *row) {
    return ends_with(row, "/") || ends_with(row, ".");
}

/* The index of a path's row, or `count`. */
static size_t find_row(const struct layer *rows, size_t count, const char *path) {
    size_t row = 0;
    while (row < count && !(is_prefix(rows[row].folder) ? starts_with(path, rows[row].folder)
                                                        : strcmp(path, rows[row].folder) == 0)) {
        row++;
    }
    return row;
}

/* ---- what is found ---- */

struct file {
    char path[PATH_SIZE]; /* from ROOT */
    size_t unit;          /* index of the first file of the same name but for .c, .cpp and .h */
    bool defines_op;
    int state; /* of a unit, in the search for cycles: 0 new, 1 on the way, 2 done */
};

struct edge {
    size_t from, to; /* files */
};

static const char *root;
static struct file files[MAX_FILES];
static size_t file_count;
static struct edge edges[MAX_EDGES];
static size_t edge_count;
static unsigned problems;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    problems++;
}

static void give_up(const char *what, const char *path) {
    fprintf(stderr, "layers: %s: %s\n", what, path);
    exit(2);
}

/* ---- reading ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
make_path(char out[PATH_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(out, PATH_SIZE, format, arguments);
    va_end(arguments);
    if (size < 0 || size >= PATH_SIZE) {
        give_up("the name is too long", out);
    }
}

static bool is_source(const char *name) {
    return ends_with(name, ".c") || ends_with(name, ".h") || ends_with(name, ".cpp");
}

static int by_path(const void *left, const void *right) {
    return strcmp(((const struct file *)left)->path, ((const struct file *)right)->path);
}

static void list_folder(const char *folder) {
    char path[PATH_SIZE], full[PATH_SIZE];
    struct stat information;
    make_path(full, "%s/%s", root, folder);
    DIR *entries = opendir(full);
    if (!entries) {
        return; /* one of the three may be missing */
    }
    const struct dirent *entry;
    while ((entry = readdir(entries))) {
        make_path(path, "%s/%s", folder, entry->d_name);
        make_path(full, "%s/%s", root, path);
        if (entry->d_name[0] == '.' || stat(full, &information) != 0) {
            continue;
        }
        if (S_ISDIR(information.st_mode)) {
            list_folder(path);
        } else if (is_source(entry->d_name)) {
            if (file_count == MAX_FILES) {
                give_up("too many files", path);
            }
            make_path(files[file_count++].path, "%s", path);
        }
    }
    closedir(entries);
}

/* The file of that path, or file_count. */
static size_t find_file(const char *path) {
    size_t low = 0, high = file_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(path, files[middle].path);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return file_count;
}

static size_t stem_length(const char *path) {
    return (size_t)(strrchr(path, '.') - path);
}

static void find_units(void) {
    for (size_t i = 0; i < file_count; i++) {
        files[i].unit = i;
        for (size_t k = 0; k < i; k++) {
            const size_t length = stem_length(files[i].path);
            if (length == stem_length(files[k].path) &&
                strncmp(files[i].path, files[k].path, length) == 0) {
                files[i].unit = files[k].unit;
                break;
            }
        }
    }
}

/* Where a quoted name leads: beside the file, or from one of the folders that programs are compiled with. */
static size_t resolve(size_t from, const char *name, bool quoted) {
    static const char *const folders[] = {"runtime", "api", "api/cli", "api/include", "."};
    char path[PATH_SIZE];
    if (quoted) {
        make_path(path, "%.*s%s", (int)(strrchr(files[from].path, '/') + 1 - files[from].path),
                  files[from].path, name);
        const size_t beside = find_file(path);
        if (beside < file_count) {
            return beside;
        }
    }
    for (size_t i = 0; i < COUNT(folders); i++) {
        if (strcmp(folders[i], ".") == 0) {
            make_path(path, "%s", name);
        } else {
            make_path(path, "%s/%s", folders[i], name);
        }
        const size_t found = find_file(path);
        if (found < file_count) {
            return found;
        }
    }
    return file_count;
}

/* Whether a name that is none of the files' leads into tests/, whose folders other programs are compiled with. */
static bool leads_to_tests(const char *name) {
    static const char *const folders[] = {"tests", "tests/support"};
    char path[PATH_SIZE];
    bool found = strstr(name, "tests/") != NULL;
    for (size_t i = 0; i < COUNT(folders) && !found; i++) {
        make_path(path, "%s/%s/%s", root, folders[i], name);
        found = access(path, F_OK) == 0;
    }
    return found;
}

static void read_include(size_t from, const char *line) {
    char name[PATH_SIZE];
    char open = 0;
    if (sscanf(line, " # include %c%511[^\">]", &open, name) != 2 || (open != '"' && open != '<')) {
        return;
    }
    const size_t to = resolve(from, name, open == '"');
    if (to < file_count) {
        if (edge_count == MAX_EDGES) {
            give_up("too many includes", files[from].path);
        }
        edges[edge_count++] = (struct edge){.from = from, .to = to};
    } else if (open == '"' && leads_to_tests(name)) {
        complain("%s includes %s, which is a test's", files[from].path, name);
    }
}

static void read_file(size_t index) {
    char path[PATH_SIZE], line[4096];
    make_path(path, "%s/%s", root, files[index].path);
    FILE *stream = fopen(path, "r");
    if (!stream) {
        give_up("cannot be read", path);
    }
    while (fgets(line, sizeof line, stream)) {
        if (starts_with(line, "const struct weft_op weft_op_")) {
            files[index].defines_op = true;
        }
        read_include(index, line);
    }
    fclose(stream);
}

/* ---- the rules ---- */

static bool is_core(const char *path) {
    bool found = false;
    for (size_t i = 0; i < COUNT(core); i++) {
        found = found || starts_with(path, core[i]);
    }
    return found;
}

/* Among public headers the order is that of the rows. */
static void check_header(const char *from, size_t row, const char *to, size_t to_row) {
    if (to_row == COUNT(headers)) {
        complain("%s includes %s, which is not public", from, to);
    } else if (to_row > row) {
        complain("%s includes %s, which is above it", from, to);
    }
}

static void check_layer(const char *from, const char *how, const char *to) {
    const size_t row = find_row(layers, COUNT(layers), from);
    const size_t to_row = find_row(layers, COUNT(layers), to);
    if (row == COUNT(layers) || to_row == COUNT(layers)) {
        return; /* has been complained of */
    }
    const struct layer *own = &layers[row], *other = &layers[to_row];
    if (own->rank > RECEIPTS && other->rank <= RECEIPTS) {
        if (!is_core(to)) {
            complain("%s %s %s, which is hidden in the library", from, how, to);
        }
    } else if (row != to_row &&
               (other->rank > own->rank || (other->rank == own->rank && own->rank != PROGRAMS))) {
        complain("%s %s %s, which is above it", from, how, to);
    } else if (own->rank == GRAPH && row != to_row && other->rank > FORMATS) {
        complain("%s %s %s, but graphs know no device", from, how, to);
    }
}

static void check_op(const struct file *from, size_t to) {
    char other[PATH_SIZE];
    make_path(other, "%.*s.c", (int)stem_length(files[to].path), files[to].path);
    const size_t definition = find_file(other);
    if (from->defines_op && definition < file_count && files[definition].defines_op &&
        files[definition].unit != from->unit &&
        find_row(layers, COUNT(layers), other) == find_row(layers, COUNT(layers), from->path)) {
        complain("%s includes %s, which belongs to another op's file", from->path, files[to].path);
    }
}

static void check_edge(const struct edge *edge) {
    const char *from = files[edge->from].path, *to = files[edge->to].path;
    const size_t header = find_row(headers, COUNT(headers), from);
    const size_t to_header = find_row(headers, COUNT(headers), to);
    const size_t row = find_row(layers, COUNT(layers), from);
    if (header < COUNT(headers)) {
        check_header(from, header, to, to_header);
    } else if (row == COUNT(layers)) {
        return; /* has been complained of */
    } else if (to_header < COUNT(headers)) {
        if (layers[row].rank < headers[to_header].rank) {
            complain("%s includes %s, which is above it", from, to);
        }
    } else if (find_row(layers, COUNT(layers), to) < COUNT(layers)) {
        check_layer(from, "includes", to);
        check_op(&files[edge->from], edge->to);
    }
}

static void check_rows(void) {
    bool ops = false;
    for (size_t i = 0; i < file_count; i++) {
        const char *path = files[i].path;
        ops = ops || files[i].defines_op;
        if (find_row(headers, COUNT(headers), path) == COUNT(headers) &&
            find_row(layers, COUNT(layers), path) == COUNT(layers)) {
            complain("%s is in no layer: tests/house/layers.c has the tables", path);
        }
    }
    if (!ops && find_file("runtime/graph/op_list.h") < file_count) {
        complain("no file defines an op: tests/house/layers.c does not know the row of one");
    }
}

/* ---- symbols ---- */

struct symbol {
    char name[96], path[PATH_SIZE]; /* of the source whose object has it */
};

static struct symbol defined[MAX_NAMES], taken[MAX_NAMES];
static size_t defined_count, taken_count;

static int by_name(const void *left, const void *right) {
    return strcmp(((const struct symbol *)left)->name, ((const struct symbol *)right)->name);
}

/* "…/runtime/plan/plan.c.o: weft_plan_destroy T 0 a"; objects of what the build makes are in no layer. */
static void read_symbol(const char *line) {
    struct symbol symbol = {.name = ""};
    char object[PATH_SIZE], kind;
    if (sscanf(line, "%511[^:]: %95s %c", object, symbol.name, &kind) != 3) {
        return;
    }
    const char *path = object, *next;
    while ((next = strstr(path + 1, "runtime/"))) {
        path = next;
    }
    if (!starts_with(path, "runtime/")) {
        return;
    }
    make_path(symbol.path, "%.*s", (int)stem_length(path), path);
    size_t *count = kind == 'U' ? &taken_count : &defined_count;
    if (*count == MAX_NAMES) {
        give_up("too many symbols", path);
    }
    (kind == 'U' ? taken : defined)[(*count)++] = symbol;
}

static void check_symbols(const char *command) {
    char line[4096], how[128];
    FILE *stream = popen(command, "r");
    while (stream && fgets(line, sizeof line, stream)) {
        read_symbol(line);
    }
    if (!stream || pclose(stream) != 0 || defined_count == 0 || taken_count == 0) {
        give_up("prints no symbols", command);
    }
    qsort(defined, defined_count, sizeof *defined, by_name);
    for (size_t i = 0; i < taken_count; i++) {
        const struct symbol *found =
            bsearch(&taken[i], defined, defined_count, sizeof *defined, by_name);
        if (found) {
            snprintf(how, sizeof how, "takes %.95s from", taken[i].name);
            check_layer(taken[i].path, how, found->path);
        }
    }
}

/* ---- cycles ---- */

static void print_cycle(const size_t *way, size_t length, size_t unit) {
    size_t first = length - 1;
    while (way[first] != unit) {
        first--;
    }
    printf("a cycle:");
    for (size_t i = first; i < length; i++) {
        const char *path = files[way[i]].path;
        printf(" %.*s ->", (int)stem_length(path), path);
    }
    complain(" %.*s", (int)stem_length(files[unit].path), files[unit].path);
}

static void search(size_t unit, size_t *way, size_t length) {
    files[unit].state = 1;
    way[length++] = unit;
    for (size_t i = 0; i < edge_count; i++) {
        const size_t next = files[edges[i].to].unit;
        if (files[edges[i].from].unit != unit || next == unit) {
            continue;
        }
        if (files[next].state == 0) {
            search(next, way, length);
        } else if (files[next].state == 1) {
            print_cycle(way, length, next);
        }
    }
    files[unit].state = 2;
}

int main(int argc, char **argv) {
    static size_t way[MAX_FILES];
    if (argc != 2 && argc != 3) {
        give_up("usage: layers ROOT [COMMAND]", "one argument or two");
    }
    root = argv[1];
    list_folder("runtime");
    list_folder("api");
    list_folder("bench");
    if (file_count == 0) {
        give_up("no sources below", root);
    }
    qsort(files, file_count, sizeof *files, by_path);
    find_units();
    for (size_t i = 0; i < file_count; i++) {
        read_file(i);
    }
    for (size_t i = 0; i < edge_count; i++) {
        check_edge(&edges[i]);
    }
    check_rows();
    if (argc == 3) {
        check_symbols(argv[2]);
    }
    for (size_t i = 0; i < file_count; i++) {
        if (files[i].unit == i && files[i].state == 0) {
            search(i, way, 0);
        }
    }
    printf("%zu files, %zu includes among them, %zu symbols: %u problems\n", file_count, edge_count,
           defined_count, problems);
    return problems > 0;
}
