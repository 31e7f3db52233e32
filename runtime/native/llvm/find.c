/* SPDX-License-Identifier: MIT */
#include "native/llvm/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm/Config/llvm-config.h>

#include "core/system/library.h"
#include "native/kernel.h"
#include "native/llvm/build_id.h"
#include "native/llvm/jumps.h"
#include "native/llvm/version.h"

/* ---- what is wanted ---- */

struct wanted {
    unsigned oldest, newest;
    const char *path; /* or null */
    bool is_wrong;
};

static struct wanted read_wanted(void) {
    const char *text = getenv("WEFT_LLVM");
    struct wanted wanted = {.oldest = WEFT_LLVM_OLDEST, .newest = WEFT_LLVM_NEWEST};
    if (!text || !weft_native_compiler_is_chosen()) {
        return wanted;
    }
    if (text[0] < '0' || text[0] > '9') {
        wanted.path = text;
        return wanted;
    }
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    wanted.is_wrong = *end != '\0' || number < WEFT_LLVM_OLDEST || number > WEFT_LLVM_NEWEST;
    wanted.oldest = wanted.newest = wanted.is_wrong ? 0 : (unsigned)number;
    return wanted;
}

/* ---- where it may be ---- */

/* Until it gives true. `version` is 0 where it is not known beforehand. */
typedef bool (*visitor)(const char *path, unsigned version, void *user);

/* What came with us, and what this was built with. */
static bool visit_ours(visitor visit, void *user) {
    char path[WEFT_LLVM_PATH_SIZE];
    return (weft_library_beside(path, sizeof path, WEFT_LLVM_BESIDE) &&
            visit(path, LLVM_VERSION_MAJOR, user)) ||
           (weft_library_is_there(WEFT_LLVM_PATH) &&
            visit(WEFT_LLVM_PATH, LLVM_VERSION_MAJOR, user));
}

static bool visit_files(unsigned version, visitor visit, void *user) {
    char folder[128], name[64], path[WEFT_LLVM_PATH_SIZE];
    if (version == LLVM_VERSION_MAJOR && visit_ours(visit, user)) {
        return true;
    }
    for (unsigned i = 0; weft_llvm_folder(folder, sizeof folder, version, i); i++) {
        for (unsigned k = 0; weft_llvm_file_name(name, sizeof name, version, k); k++) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, name);
            if (weft_library_is_there(path) && visit(path, version, user)) {
                return true;
            }
        }
    }
    return false;
}

/* Also where an installer puts them, which has no version in its name. */
static bool visit_names(unsigned version, visitor visit, void *user) {
    char name[64], path[WEFT_LLVM_PATH_SIZE];
    if (version == LLVM_VERSION_MAJOR && visit(WEFT_LLVM_NAME, 0, user)) {
        return true;
    }
    for (unsigned k = 0; weft_llvm_file_name(name, sizeof name, version, k); k++) {
        if (visit(name, 0, user) ||
            (weft_library_installed(path, sizeof path, "LLVM", name) && visit(path, 0, user))) {
            return true;
        }
    }
    return false;
}

static bool visit_versions(const struct wanted *wanted,
                           bool (*each)(unsigned version, visitor visit, void *user), visitor visit,
                           void *user) {
    const unsigned built = LLVM_VERSION_MAJOR;
    if (built >= wanted->oldest && built <= wanted->newest && each(built, visit, user)) {
        return true;
    }
    for (unsigned version = wanted->newest; version >= wanted->oldest; version--) {
        if (version != built && each(version, visit, user)) {
            return true;
        }
    }
    return false;
}

/* ---- without opening ---- */

static bool expect(const char *path, unsigned version, void *user) {
    struct weft_llvm_file *file = user;
    file->version = version;
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    return weft_build_id(file->id, sizeof file->id, path);
}

bool weft_llvm_expect(struct weft_llvm_file *file) {
    const struct wanted wanted = read_wanted();
    return !wanted.path && !wanted.is_wrong && visit_versions(&wanted, visit_files, expect, file);
}

/* ---- opening ---- */

struct search {
    struct weft_llvm_file *file;
    void *library;
    struct wanted wanted;
    char *fault;
    size_t size, length; /* of the fault */
};

static void add_fault(struct search *search, const char *path, const char *what) {
    char start[WEFT_LLVM_PATH_SIZE + 1];
    (void)snprintf(start, sizeof start, "%s ", path);
    if (strstr(search->fault, start)) { /* LLVM's name on Windows is the same for every version */
        return;
    }
    const size_t room = search->size - search->length;
    const int written = snprintf(search->fault + search->length, room, "%s%s %s",
                                 search->length > 0 ? "; " : "", path, what);
    search->length = written >= 0 && (size_t)written < room ? search->length + (size_t)written
                                                            : search->size - 1;
}

/* What LLVM is told to be, or why it is not taken. */
static bool check(struct search *search, const char *path, void *library) {
    struct weft_llvm_file *file = search->file;
    char told[64], what[160];
    const unsigned version = weft_llvm_version_of(library, told, sizeof told);
    if (version >= search->wanted.oldest && version <= search->wanted.newest) {
        file->version = version;
        (void)snprintf(file->path, sizeof file->path, "%s", path);
        if (!weft_library_is_there(path) || !weft_build_id(file->id, sizeof file->id, path)) {
            (void)snprintf(file->id, sizeof file->id, "%s", told);
        }
        return true;
    }
    (void)snprintf(what, sizeof what, "is %s%s, expected %u%s%.0u",
                   version == 0 ? "older than LLVM 15" : "LLVM ", told, search->wanted.oldest,
                   search->wanted.newest > search->wanted.oldest ? " to " : "",
                   search->wanted.newest > search->wanted.oldest ? search->wanted.newest : 0);
    add_fault(search, path, what);
    return false;
}

/* The dynamic linker's message names what it does not find, and by whom that is needed. */
static bool is_absent(const char *path, const char *reason) {
    return !weft_library_is_there(path) && strstr(reason, path) && !strstr(reason, " by ");
}

static bool open_it(const char *path, unsigned version, void *user) {
    struct search *search = user;
    char reason[256];
    (void)version; /* it is asked */
    void *library = weft_library_open(path, reason, sizeof reason);
    if (!library && !is_absent(path, reason)) {
        add_fault(search, path, reason);
    }
    search->library = library && check(search, path, library) ? library : NULL;
    return search->library != NULL;
}

/* A version that is not taken, to be told. */
static bool note(const char *path, unsigned version, void *user) {
    struct search *search = user;
    char what[64];
    (void)snprintf(what, sizeof what, "is LLVM %u, expected %u to %u", version, WEFT_LLVM_OLDEST,
                   WEFT_LLVM_NEWEST);
    add_fault(search, path, what);
    return true;
}

static void look_for_others(struct search *search) {
    static const struct wanted others[] = {
        {.oldest = WEFT_LLVM_NEWEST + 1, .newest = WEFT_LLVM_NEWEST + 8},
        {.oldest = WEFT_LLVM_OLDEST - 5, .newest = WEFT_LLVM_OLDEST - 1}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        (void)visit_versions(&others[i], visit_files, note, search);
    }
}

bool weft_llvm_find(struct weft_llvm_file *file, char *fault, size_t size) {
    struct search search = {.file = file, .wanted = read_wanted(), .fault = fault, .size = size};
    const struct wanted *wanted = &search.wanted;
    fault[0] = '\0';
    if (wanted->is_wrong || (wanted->path && !weft_library_is_there(wanted->path))) {
        add_fault(&search, "WEFT_LLVM",
                  "is neither 0, 1, a version from 15 to 22 nor the absolute path of a file");
    } else if (wanted->path) {
        (void)open_it(wanted->path, 0, &search);
    } else if (!visit_versions(wanted, visit_files, open_it, &search) &&
               !visit_versions(wanted, visit_names, open_it, &search) && search.length == 0) {
        add_fault(&search, "no library",
                  wanted->oldest < wanted->newest
                      ? "of LLVM 15 to 22 was found"
                      : "of the version that WEFT_LLVM names was found");
        look_for_others(&search);
    }
    return search.library && weft_llvm_lead(search.library, file->path, fault, size);
}
