/* SPDX-License-Identifier: MIT */
/*
 * Long blocks on devices with few registers. Their compilers order the instructions of a block by what is ready, and share what several of
 * its parts compute, addresses above all: more values are alive at once than registers are there, and every value that goes to memory
 * makes them look anew at who is alive. VkFFT's kernels are blocks of thousands of instructions, in which each stage of a transform is done
 * when the next one starts. Told so, V3D's compiler needs 3 s instead of 37 for a transform of 2,042 points, keeps all of it in registers
 * (10 KiB went to memory), and makes a fifth less code; Mali's needs 0.4 s instead of 6 (Mesa 25.0.7, bench/compilers).
 *
 * Of the entry point, a block of WEFT_SPIRV_LONG_BLOCK instructions or more becomes parts of about WEFT_SPIRV_PART each. Between two of
 * them is a branch that is taken where there are no workgroups, so never, as no compiler knows; on it memory is ordered, which keeps it a
 * branch, and a variable changes that all numbers of the invocation and its workgroup are or'ed with when they are read, so that nothing
 * computed from them is known behind a cut. No result changes. Costs a branch on a uniform value for each cut, and an integer instruction
 * for each number read.
 *
 * The lint comes before: it refuses counts of workgroups, which differ where a dispatch is split. This one is compared with 0. A
 * module is left as it is where no block is that long, or which has not exactly one entry point, or reads no vector of such numbers.
 */
#include "spirv/passes/passes.h"

/* Ids that are new in the module. */
enum { NONE, SOME, SCOPE, SEMANTICS, POINTER, HIDDEN, BOOL, WORKGROUPS, NEW_IDS };

/* Ids of a cut. */
enum { COUNTS, COUNT, IS_EMPTY, TAKEN, REST, CUT_IDS };

struct cut {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    const uint32_t *entry;    /* OpEntryPoint */
    const uint32_t *function; /* its OpFunction */
    uint8_t *is_number;       /* per id: whether it points to numbers of the invocation */
    uint32_t *last; /* per label: that of its block's last part, or 0 where it is not cut */
    struct weft_spirv_input vector; /* of three numbers */
    uint32_t scalar;                /* the type of a number */
    uint32_t workgroups;            /* the variable that counts them, or 0 */
    uint32_t ids[NEW_IDS];          /* the new ones, or the module's in their place */
};

/* True if there is what cuts are made of. */
static bool survey(struct cut *cut) {
    static const SpvBuiltIn numbers[] = {SpvBuiltInNumWorkgroups, SpvBuiltInWorkgroupId,
                                         SpvBuiltInLocalInvocationId, SpvBuiltInGlobalInvocationId,
                                         SpvBuiltInLocalInvocationIndex};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct weft_spirv_input input;
        if (weft_spirv_find_input(&input, cut->module, numbers[i])) {
            cut->is_number[input.variable] = numbers[i] != SpvBuiltInNumWorkgroups;
            cut->vector =
                input.shape.kind == WEFT_SPIRV_UINT && input.shape.width == 3 ? input : cut->vector;
        }
    }
    return weft_spirv_length(cut->entry[0]) < WEFT_SPIRV_MOST_WORDS && cut->vector.variable != 0 &&
           (cut->workgroups == 0 ||
            weft_spirv_type_of(cut->module, cut->workgroups) == cut->vector.pointer);
}

static void declare(struct cut *cut) {
    static const uint32_t constants[] = {[NONE] = 0,
                                         [SOME] = 1,
                                         [SCOPE] = SpvScopeWorkgroup,
                                         [SEMANTICS] = SpvMemorySemanticsAcquireReleaseMask |
                                                       SpvMemorySemanticsWorkgroupMemoryMask};
    struct weft_spirv_edit *edit = cut->edit;
    const uint32_t first = weft_spirv_new_ids(edit, NEW_IDS);
    for (uint32_t i = 0; i < NEW_IDS; i++) {
        cut->ids[i] = first + i;
    }
    cut->ids[BOOL] = cut->module->bool_type != 0 ? cut->module->bool_type : first + BOOL;
    cut->ids[WORKGROUPS] = cut->workgroups != 0 ? cut->workgroups : first + WORKGROUPS;
    cut->scalar = cut->vector.shape.scalar;
    if (!weft_spirv_interface_has(cut->entry, cut->ids[WORKGROUPS])) {
        weft_spirv_replace(edit, cut->entry);
        weft_spirv_put_op(edit, SpvOpEntryPoint, weft_spirv_length(cut->entry[0]) - 1,
                          cut->entry + 1);
        weft_spirv_put_operand(edit, cut->ids[WORKGROUPS]);
    }
    if (cut->workgroups == 0) {
        weft_spirv_insert_into(edit, WEFT_SPIRV_ANNOTATIONS);
        WEFT_SPIRV_PUT(edit, SpvOpDecorate, cut->ids[WORKGROUPS], SpvDecorationBuiltIn,
                       SpvBuiltInNumWorkgroups);
    }
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    if (cut->module->bool_type == 0) {
        WEFT_SPIRV_PUT(edit, SpvOpTypeBool, cut->ids[BOOL]);
    }
    if (cut->workgroups == 0) {
        WEFT_SPIRV_PUT(edit, SpvOpVariable, cut->vector.pointer, cut->ids[WORKGROUPS],
                       SpvStorageClassInput);
    }
    for (uint32_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        WEFT_SPIRV_PUT(edit, SpvOpConstant, cut->scalar, cut->ids[i], constants[i]);
    }
    WEFT_SPIRV_PUT(edit, SpvOpTypePointer, cut->ids[POINTER], SpvStorageClassFunction, cut->scalar);
}

static void put_cut(struct cut *cut, const uint32_t *store, uint32_t label) {
    struct weft_spirv_edit *edit = cut->edit;
    const uint32_t ids = weft_spirv_new_ids(edit, CUT_IDS);
    weft_spirv_insert_before(edit, weft_spirv_next(store));
    WEFT_SPIRV_PUT(edit, SpvOpLoad, cut->vector.type, ids + COUNTS, cut->ids[WORKGROUPS]);
    WEFT_SPIRV_PUT(edit, SpvOpCompositeExtract, cut->scalar, ids + COUNT, ids + COUNTS, 0);
    WEFT_SPIRV_PUT(edit, SpvOpIEqual, cut->ids[BOOL], ids + IS_EMPTY, ids + COUNT, cut->ids[NONE]);
    WEFT_SPIRV_PUT(edit, SpvOpSelectionMerge, ids + REST, 0);
    WEFT_SPIRV_PUT(edit, SpvOpBranchConditional, ids + IS_EMPTY, ids + TAKEN, ids + REST);
    WEFT_SPIRV_PUT(edit, SpvOpLabel, ids + TAKEN);
    WEFT_SPIRV_PUT(edit, SpvOpMemoryBarrier, cut->ids[SCOPE], cut->ids[SEMANTICS]);
    WEFT_SPIRV_PUT(edit, SpvOpStore, cut->ids[HIDDEN], cut->ids[SOME]);
    WEFT_SPIRV_PUT(edit, SpvOpBranch, ids + REST);
    WEFT_SPIRV_PUT(edit, SpvOpLabel, ids + REST);
    cut->last[label] = ids + REST;
}

/* Behind stores, where no variable is declared. A loop's header stays where its branches go. */
static void cut_block(struct cut *cut, const uint32_t *label) {
    uint32_t length = 0, since = 0;
    bool is_header = false;
    const uint32_t *end = weft_spirv_next(label);
    while (weft_spirv_opcode(end[0]) != SpvOpLabel &&
           weft_spirv_opcode(end[0]) != SpvOpFunctionEnd) {
        is_header = is_header || weft_spirv_opcode(end[0]) == SpvOpLoopMerge;
        end = weft_spirv_next(end);
        length++;
    }
    const bool is_cut = !is_header && length >= WEFT_SPIRV_LONG_BLOCK;
    const uint32_t parts = is_cut ? length / WEFT_SPIRV_PART : 1;
    uint32_t left = parts - 1;
    for (const uint32_t *i = weft_spirv_next(label); left > 0 && i < end; i = weft_spirv_next(i)) {
        if (++since >= length / parts && weft_spirv_opcode(i[0]) == SpvOpStore) {
            if (cut->scalar == 0) { /* the first one */
                declare(cut);
            }
            put_cut(cut, i, label[1]);
            left--;
            since = 0;
        }
    }
}

/* number = what was read | what changes where no invocation comes by. Of OpPhi: values come from the last part of a block. */
static void rewrite_instruction(struct cut *cut, const uint32_t *instruction) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    if (opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain) {
        cut->is_number[instruction[2]] = cut->is_number[instruction[3]];
    }
    if (opcode == SpvOpLoad && instruction[1] == cut->scalar && cut->is_number[instruction[3]]) {
        const uint32_t ids = weft_spirv_new_ids(cut->edit, 2);
        const uint32_t number = instruction[2];
        weft_spirv_set_word(cut->edit, instruction, 2, ids);
        weft_spirv_insert_before(cut->edit, weft_spirv_next(instruction));
        WEFT_SPIRV_PUT(cut->edit, SpvOpLoad, cut->scalar, ids + 1, cut->ids[HIDDEN]);
        WEFT_SPIRV_PUT(cut->edit, SpvOpBitwiseOr, cut->scalar, number, ids, ids + 1);
    }
    for (uint32_t i = 4; opcode == SpvOpPhi && i < weft_spirv_length(instruction[0]); i += 2) {
        const uint32_t last = cut->last[instruction[i]];
        weft_spirv_set_word(cut->edit, instruction, i, last != 0 ? last : instruction[i]);
    }
}

static void rewrite(struct cut *cut) {
    bool is_first = true; /* block */
    WEFT_SPIRV_EACH_IN(i, cut->function) {
        if (weft_spirv_opcode(i[0]) == SpvOpLabel) {
            cut_block(cut, i);
        }
    }
    WEFT_SPIRV_EACH_IN(i, cut->function) {
        if (cut->scalar == 0) {
            break; /* no block is long */
        }
        if (weft_spirv_opcode(i[0]) == SpvOpLabel && is_first) {
            weft_spirv_insert_before(cut->edit, weft_spirv_next(i));
            WEFT_SPIRV_PUT(cut->edit, SpvOpVariable, cut->ids[POINTER], cut->ids[HIDDEN],
                           SpvStorageClassFunction, cut->ids[NONE]);
            is_first = false;
        }
        rewrite_instruction(cut, i);
    }
}

weft_status weft_spirv_cut_blocks(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    const weft_host *host = module->host;
    struct cut cut = {.edit = edit,
                      .module = module,
                      .entry = module->words + module->starts[WEFT_SPIRV_ENTRY_POINTS],
                      .workgroups = module->built_ins[SpvBuiltInNumWorkgroups]};
    if (module->entry_points != 1) {
        return WEFT_OK;
    }
    cut.function = weft_spirv_made_by(module, cut.entry[2], SpvOpFunction);
    cut.is_number = weft_alloc_zero(host, module->bound, sizeof *cut.is_number);
    cut.last = weft_alloc_zero(host, module->bound, sizeof *cut.last);
    const bool enough = cut.is_number && cut.last;
    if (enough && survey(&cut)) {
        rewrite(&cut);
    }
    weft_free(host, cut.is_number);
    weft_free(host, cut.last);
    return enough ? WEFT_OK : weft_fail_memory(host, "SPIR-V ids");
}
