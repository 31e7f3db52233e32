/* SPDX-License-Identifier: MIT */
/* Changing a module: a pass says what is to be where, and weft_spirv_apply makes the module of it. */
#ifndef WEFT_SPIRV_EDIT_H
#define WEFT_SPIRV_EDIT_H

#include "spirv/index.h"

/** New words before a word of the module, and how many of the module's from there on are left out. */
struct weft_spirv_splice {
    size_t at;
    uint32_t first, count; /* of the new words */
    uint32_t removed;
};

struct weft_spirv_edit {
    struct weft_spirv_module
        module;      /* as the last weft_spirv_apply left it: new ids are not in it */
    uint32_t *words; /* the module's: a word may be replaced in place. */
    uint32_t bound;  /* with the new ids */
    size_t place;    /* where new instructions go */
    struct weft_spirv_splice *splices;
    uint32_t splice_count, splice_capacity;
    uint32_t *added;
    uint32_t added_count, added_capacity;
    uint32_t newest;                      /* where the last new instruction starts */
    const char *pass;                     /* name of the running pass, for messages; may be null */
    const struct weft_spirv_needs *needs; /* of passes (passes/passes.h), or null */
    weft_status status; /* the first error, after which nothing changes any more */
};

/** A copy of a module that weft_spirv_check has passed, with its index, to be freed also after an error. Errors: those of weft_spirv_read. */
weft_status weft_spirv_edit_begin(struct weft_spirv_edit *edit, const uint32_t *words, size_t size,
                                  const weft_host *host);

/** Ids that are new to the module, one after the other; the first. With the last one taken, weft_spirv_apply fails: "no ids are left". */
uint32_t weft_spirv_new_ids(struct weft_spirv_edit *edit, uint32_t count);

/** From now on, new instructions come before this one of the module's, behind others that are put there. */
void weft_spirv_insert_before(struct weft_spirv_edit *edit, const uint32_t *instruction);

/** From now on, new instructions come to the end of a section. */
void weft_spirv_insert_into(struct weft_spirv_edit *edit, enum weft_spirv_section section);

/** An instruction of an opcode and `count` operands, a type and a result included. */
void weft_spirv_put_op(struct weft_spirv_edit *edit, uint32_t opcode, uint32_t count,
                       const uint32_t *operands);

#define WEFT_SPIRV_PUT(edit, opcode, ...)                                               \
    weft_spirv_put_op(edit, opcode,                                                     \
                      (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), \
                      (const uint32_t[]){__VA_ARGS__})

/** One more operand, of at most WEFT_SPIRV_MOST_WORDS, of the instruction that was put last. */
void weft_spirv_put_operand(struct weft_spirv_edit *edit, uint32_t operand);

/** Appends a literal string. */
void weft_spirv_put_text(struct weft_spirv_edit *edit, const char *text);

/** Puts instructions in the place of one of the module's: it is left out, and new ones come where it was. */
void weft_spirv_replace(struct weft_spirv_edit *edit, const uint32_t *instruction);

/** Adds a capability, or an extension, that the module lacks. A module may have no extension: all capabilities come first. These move the
 * place of new instructions. */
void weft_spirv_require(struct weft_spirv_edit *edit, uint32_t capability);
void weft_spirv_require_extension(struct weft_spirv_edit *edit, const char *name);

/** A word of one of the module's instructions gets another value. */
static inline void weft_spirv_set_word(struct weft_spirv_edit *edit, const uint32_t *instruction,
                                       uint32_t word, uint32_t value) {
    edit->words[(size_t)(instruction - edit->module.words) + word] = value;
}

/** Makes the module that all this describes, and its index. Pointers into the old one are void. */
weft_status weft_spirv_apply(struct weft_spirv_edit *edit);

/** Frees it, with its words; a zeroed one may be freed as well. */
void weft_spirv_edit_free(struct weft_spirv_edit *edit);

#endif
