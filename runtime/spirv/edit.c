/* SPDX-License-Identifier: MIT */
#include "spirv/edit.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

weft_status weft_spirv_edit_begin(struct weft_spirv_edit *edit, const uint32_t *words, size_t size,
                                  const weft_host *host) {
    *edit = (struct weft_spirv_edit){.module.host = host, .words = weft_alloc(host, size)};
    if (!edit->words) {
        return weft_fail_memory(host, "SPIR-V module");
    }
    memcpy(edit->words, words, size);
    edit->bound = words[WEFT_SPIRV_AT_BOUND];
    return weft_spirv_read(&edit->module, edit->words, size, host);
}

uint32_t weft_spirv_new_ids(struct weft_spirv_edit *edit, uint32_t count) {
    const uint32_t first = edit->bound;
    if (edit->status != WEFT_OK) {
        return 0;
    }
    if (count > WEFT_SPIRV_MAX_BOUND - first) {
        edit->status = weft_fail(edit->module.host, WEFT_COMPILE_ERROR,
                                 "SPIR-V module: no ids are left for %s",
                                 edit->pass ? edit->pass : "what is added");
        return 0;
    }
    edit->bound += count;
    return first;
}

/* ---- putting ---- */

void weft_spirv_insert_before(struct weft_spirv_edit *edit, const uint32_t *instruction) {
    edit->place = (size_t)(instruction - edit->module.words);
}

void weft_spirv_insert_into(struct weft_spirv_edit *edit, enum weft_spirv_section section) {
    edit->place = edit->module.starts[section + 1];
}

/* The splice at the place that was chosen; null after an error. */
static struct weft_spirv_splice *here(struct weft_spirv_edit *edit) {
    if (edit->status == WEFT_OK &&
        (edit->splice_count == 0 || edit->splices[edit->splice_count - 1].at != edit->place)) {
        if (weft_grow(edit->module.host, &edit->splices, edit->splice_count, &edit->splice_capacity,
                      sizeof *edit->splices)) {
            edit->splices[edit->splice_count++] =
                (struct weft_spirv_splice){.at = edit->place, .first = edit->added_count};
        } else {
            edit->status = weft_fail_memory(edit->module.host, "SPIR-V module");
        }
    }
    return edit->status == WEFT_OK ? &edit->splices[edit->splice_count - 1] : NULL;
}

void weft_spirv_replace(struct weft_spirv_edit *edit, const uint32_t *instruction) {
    weft_spirv_insert_before(edit, instruction);
    struct weft_spirv_splice *splice = here(edit);
    if (splice) {
        splice->removed = weft_spirv_length(instruction[0]);
    }
}

static void put_word(struct weft_spirv_edit *edit, uint32_t word) {
    struct weft_spirv_splice *splice = here(edit);
    if (splice && weft_grow(edit->module.host, &edit->added, edit->added_count,
                            &edit->added_capacity, sizeof *edit->added)) {
        edit->added[edit->added_count++] = word;
        splice->count++;
    } else if (splice) {
        edit->status = weft_fail_memory(edit->module.host, "SPIR-V module");
    }
}

void weft_spirv_put_op(struct weft_spirv_edit *edit, uint32_t opcode, uint32_t count,
                       const uint32_t *operands) {
    edit->newest = edit->added_count;
    put_word(edit, weft_spirv_first_word((SpvOp)opcode, count + 1));
    for (uint32_t i = 0; i < count; i++) {
        put_word(edit, operands[i]);
    }
}

void weft_spirv_put_operand(struct weft_spirv_edit *edit, uint32_t operand) {
    put_word(edit, operand);
    if (edit->status == WEFT_OK) {
        edit->added[edit->newest] += weft_spirv_first_word(SpvOpNop, 1);
    }
}

void weft_spirv_put_text(struct weft_spirv_edit *edit, const char *text) {
    const size_t length = strlen(text);
    uint32_t word = 0;
    for (size_t i = 0; i <= length; i++) {
        word |= (uint32_t)(unsigned char)text[i] << 8 * (i % 4);
        if (i % 4 == 3 || i == length) {
            weft_spirv_put_operand(edit, word);
            word = 0;
        }
    }
}

static bool has_capability(const struct weft_spirv_module *module, uint32_t capability) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_CAPABILITIES) {
        if (instruction[1] == capability) {
            return true;
        }
    }
    return false;
}

static bool has_extension(const struct weft_spirv_module *module, const char *name) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_EXTENSIONS) {
        if (weft_spirv_string_is(instruction + 1, weft_spirv_length(instruction[0]) - 1, name)) {
            return true;
        }
    }
    return false;
}

void weft_spirv_require(struct weft_spirv_edit *edit, uint32_t capability) {
    if (!has_capability(&edit->module, capability)) {
        weft_spirv_insert_into(edit, WEFT_SPIRV_CAPABILITIES);
        WEFT_SPIRV_PUT(edit, SpvOpCapability, capability);
    }
}

void weft_spirv_require_extension(struct weft_spirv_edit *edit, const char *name) {
    if (!has_extension(&edit->module, name)) {
        weft_spirv_insert_into(edit, WEFT_SPIRV_EXTENSIONS);
        weft_spirv_put_op(edit, SpvOpExtension, 0, NULL);
        weft_spirv_put_text(edit, name);
    }
}

/* ---- applying ---- */

/* In the order of the module; those of a place as they came. */
static int by_place(const void *left, const void *right) {
    const struct weft_spirv_splice *a = left;
    const struct weft_spirv_splice *b = right;
    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    return a->first < b->first ? -1 : a->first > b->first;
}

static void splice(struct weft_spirv_edit *edit, uint32_t *words) {
    const uint32_t *source = edit->module.words;
    size_t from = 0;
    for (uint32_t i = 0; i < edit->splice_count; i++) {
        const struct weft_spirv_splice *splice = &edit->splices[i];
        if (splice->at > from) {
            memcpy(words, source + from, (splice->at - from) * sizeof *words);
            words += splice->at - from;
            from = splice->at;
        }
        memcpy(words, edit->added + splice->first, splice->count * sizeof *words);
        words += splice->count;
        from += splice->removed;
    }
    memcpy(words, source + from, (edit->module.count - from) * sizeof *words);
}

weft_status weft_spirv_apply(struct weft_spirv_edit *edit) {
    const weft_host *host = edit->module.host;
    WEFT_TRY(edit->status);
    if (edit->splice_count == 0) {
        return WEFT_OK;
    }
    qsort(edit->splices, edit->splice_count, sizeof *edit->splices, by_place);
    size_t count = edit->module.count + edit->added_count;
    for (uint32_t i = 0; i < edit->splice_count; i++) {
        count -= edit->splices[i].removed;
    }
    uint32_t *words = weft_alloc(host, count * sizeof *words);
    if (!words) {
        return weft_fail_memory(host, "SPIR-V module");
    }
    splice(edit, words);
    words[WEFT_SPIRV_AT_BOUND] = edit->bound;
    weft_free(host, edit->words);
    edit->words = words;
    edit->splice_count = 0;
    edit->added_count = 0;
    weft_spirv_module_free(&edit->module);
    return weft_spirv_read(&edit->module, words, count * sizeof *words, host);
}

void weft_spirv_edit_free(struct weft_spirv_edit *edit) {
    const weft_host *host = edit->module.host;
    weft_free(host, edit->splices);
    weft_free(host, edit->added);
    weft_free(host, edit->words);
    weft_spirv_module_free(&edit->module);
    *edit = (struct weft_spirv_edit){0};
}
