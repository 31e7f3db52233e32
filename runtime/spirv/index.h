/* SPDX-License-Identifier: MIT */
/* Index of a module by id: built once after weft_spirv_check, for all readers. */
#ifndef WEFT_SPIRV_INDEX_H
#define WEFT_SPIRV_INDEX_H

#include "core/host.h"
#include "spirv/grammar.h"

struct weft_spirv_id {
    uint32_t at;          /* word of the instruction whose result it is, or 0 */
    uint32_t type;        /* of its value, or 0 */
    uint32_t name;        /* word of its OpName, or 0 */
    uint32_t decorations; /* the newest one's index, or 0 */
};

struct weft_spirv_decoration {
    uint32_t at;    /* word of the instruction */
    uint32_t next;  /* an older one of the same id, or 0 */
    uint32_t group; /* where a group is applied: its newest decoration, or 0 */
};

/** A module and its index. The words are somebody else's, and have passed weft_spirv_check. */
struct weft_spirv_module {
    const uint32_t *words;
    size_t count;
    uint32_t bound;
    struct weft_spirv_id *ids;
    size_t starts[WEFT_SPIRV_SECTIONS_END + 1]; /* words at which sections start, in order */
    uint32_t entry_points;
    uint32_t bool_type;                                          /* or 0 */
    uint32_t built_ins[SpvBuiltInSubgroupLocalInvocationId + 1]; /* ids decorated with them, or 0 */
    struct weft_spirv_decoration *decorations;                   /* from 1 on */
    uint32_t decoration_count, decoration_capacity;
    const weft_host *host;
};

/**
 * Reads a module that weft_spirv_check has passed, into what weft_spirv_module_free frees, also after an error.
 * Errors: WEFT_OUT_OF_HOST_MEMORY; WEFT_COMPILE_ERROR for a group of more decorations than there are.
 */
weft_status weft_spirv_read(struct weft_spirv_module *module, const uint32_t *words, size_t size,
                            const weft_host *host);

void weft_spirv_module_free(struct weft_spirv_module *module);

/* NOLINTBEGIN(bugprone-macro-parentheses): a name that is declared */

/** Goes over the instructions of a section, as `instruction`. */
#define WEFT_SPIRV_EACH(instruction, module, section)                               \
    for (const uint32_t *instruction = (module)->words + (module)->starts[section]; \
         instruction < (module)->words + (module)->starts[(section) + 1];           \
         instruction = weft_spirv_next(instruction))

/** Goes over the instructions of a function, but for its end, from an instruction on. */
#define WEFT_SPIRV_EACH_IN(instruction, from)                   \
    for (const uint32_t *instruction = (from);                  \
         weft_spirv_opcode(instruction[0]) != SpvOpFunctionEnd; \
         instruction = weft_spirv_next(instruction))

/** Goes over all instructions. */
#define WEFT_SPIRV_ALL(instruction, module)                                       \
    for (const uint32_t *instruction = (module)->words + WEFT_SPIRV_HEADER_WORDS; \
         instruction < (module)->words + (module)->count;                         \
         instruction = weft_spirv_next(instruction))

/* NOLINTEND(bugprone-macro-parentheses) */

/** The instruction that makes an id, if it is one of that opcode; else null. Ids that are new to the module have none. */
const uint32_t *weft_spirv_made_by(const struct weft_spirv_module *module, uint32_t id,
                                   SpvOp opcode);

/** The type of a value, or 0. */
uint32_t weft_spirv_type_of(const struct weft_spirv_module *module, uint32_t id);

/** Name of an id by OpName, or null. */
const char *weft_spirv_name(const struct weft_spirv_module *module, uint32_t id);

/** Name of a member by OpMemberName, or null. */
const char *weft_spirv_member_name(const struct weft_spirv_module *module, uint32_t type,
                                   uint32_t member);

/** True if an id has a decoration, its own or its group's. *literal, which may be null: what follows, or UINT32_MAX for nothing. */
bool weft_spirv_has_decoration(uint32_t *literal, const struct weft_spirv_module *module,
                               uint32_t id, SpvDecoration decoration);

/** True if a structure's member has a decoration, as weft_spirv_has_decoration. */
bool weft_spirv_member_has_decoration(uint32_t *literal, const struct weft_spirv_module *module,
                                      uint32_t type, uint32_t member, SpvDecoration decoration);

/** True if an id is the import of GLSL.std.450. */
bool weft_spirv_is_glsl(const struct weft_spirv_module *module, uint32_t id);

/** Numbers of constants that a pass asks for, and the host does not (passes/flush.c): whether a shader makes sure that products are not small, and
 * true, by which functions choose whose products are none. */
#define WEFT_SPIRV_ASKS_PRODUCTS  96u
#define WEFT_SPIRV_PLAIN_PRODUCTS 97u

/** True if an instruction is that set's Fma. */
bool weft_spirv_is_fma(const struct weft_spirv_module *module, const uint32_t *instruction);
/** True if an OpSDot or OpSUDot is of two words of four bytes, with a result of 32 bits: what Weft knows of SPV_KHR_integer_dot_product. */
bool weft_spirv_is_packed_dot(const struct weft_spirv_module *module, const uint32_t *dot);

/** Kind of numbers in a value: of 32 bits, or true and false. */
enum weft_spirv_kind {
    WEFT_SPIRV_OTHER = 0,
    WEFT_SPIRV_BOOL,
    WEFT_SPIRV_UINT,
    WEFT_SPIRV_INT,
    WEFT_SPIRV_FLOAT
};

struct weft_spirv_shape {
    enum weft_spirv_kind kind;
    uint32_t width;  /* components: 1, or those of a vector; 0 for OTHER */
    uint32_t scalar; /* the type of a component */
};

/** Shape of a type that is a scalar or a vector of at most four. */
struct weft_spirv_shape weft_spirv_shape_of(const struct weft_spirv_module *module, uint32_t type);

/** Notes for each type whether there is a float32 somewhere in it, in an array of as many as the module has ids. */
void weft_spirv_find_floats(bool *has_float, const struct weft_spirv_module *module);

/** An input variable that all entry points have in their interface. */
struct weft_spirv_input {
    uint32_t variable, pointer; /* and its type */
    uint32_t type;              /* of what it holds */
    struct weft_spirv_shape shape;
};

/** Finds the input variable that is a built-in of integers; false where there is none. */
bool weft_spirv_find_input(struct weft_spirv_input *input, const struct weft_spirv_module *module,
                           SpvBuiltIn built_in);

/** True if the interface of an OpEntryPoint has a variable. */
bool weft_spirv_interface_has(const uint32_t *entry_point, uint32_t variable);

/** The function of the first entry point of the execution model GLCompute that has this name, or 0. */
uint32_t weft_spirv_find_compute(const struct weft_spirv_module *module, const char *name);

/**
 * Words with an entry point's local size (x, y, z), ids of constants or, *are_ids false, numbers; null if it is not
 * declared. entry_point: its function, or 0 for any.
 */
const uint32_t *weft_spirv_find_local_size(bool *are_ids, const struct weft_spirv_module *module,
                                           uint32_t entry_point);

/**
 * Local size (x, y, z) that the module's entry point declares through LocalSize or WorkgroupSize; 0s when it cannot be told. Specialization
 * constants: constant_id i has value specialization[i]; those from `count` on have their defaults.
 */
void weft_spirv_local_size(uint32_t local_size[3], const struct weft_spirv_module *module,
                           const uint32_t *specialization, uint32_t count);

#endif
