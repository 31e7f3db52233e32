/* SPDX-License-Identifier: MIT */
#include "spirv/module.h"

#include <string.h>

#include "core/try.h"

/* What follows an instruction's first word: which of result type and result, then operands. */
enum form { NO_RESULT = 0, RESULT = 1, TYPED = 2 /* a result type, then a result */ };

struct layout {
    uint16_t first, last; /* opcodes */
    uint8_t form;         /* enum form */
    uint8_t ids;          /* operands that are ids and always there */
    bool more_ids;        /* all words after those are ids too; else they may be literals */
};

/*
 * The instructions of SPIR-V 1.6 that shaders use, in the order of their opcodes. Those of OpenCL
 * kernels and of extensions are not here: their operands are not looked at, and a module with one of
 * them may use ids that seem undefined. Types, constants and atomics are complete, since readers of
 * modules tell them by the range of their opcodes.
 */
static const struct layout layouts[] = {
    /* clang-format off */
    {0, 0, NO_RESULT, 0, false}, /* OpNop */
    {1, 1, TYPED, 0, false}, /* OpUndef */
    {2, 4, NO_RESULT, 0, false}, /* OpSourceContinued to ...Extension */
    {5, 6, NO_RESULT, 1, false}, /* OpName to OpMemberName */
    {7, 7, RESULT, 0, false}, /* OpString */
    {8, 8, NO_RESULT, 1, false}, /* OpLine */
    {10, 10, NO_RESULT, 0, false}, /* OpExtension */
    {11, 11, RESULT, 0, false}, /* OpExtInstImport */
    {12, 12, TYPED, 1, false}, /* OpExtInst */
    {14, 15, NO_RESULT, 0, false}, /* OpMemoryModel to OpEntryPoint */
    {16, 16, NO_RESULT, 1, false}, /* OpExecutionMode */
    {17, 17, NO_RESULT, 0, false}, /* OpCapability */
    {19, 22, RESULT, 0, false}, /* OpTypeVoid to ...Float */
    {23, 25, RESULT, 1, false}, /* OpTypeVector to ...Image */
    {26, 26, RESULT, 0, false}, /* OpTypeSampler */
    {27, 27, RESULT, 1, false}, /* OpTypeSampledImage */
    {28, 28, RESULT, 2, false}, /* OpTypeArray */
    {29, 29, RESULT, 1, false}, /* OpTypeRuntimeArray */
    {30, 30, RESULT, 0, true}, /* OpTypeStruct */
    {31, 31, RESULT, 0, false}, /* OpTypeOpaque */
    {32, 32, RESULT, 0, false}, /* OpTypePointer */
    {33, 33, RESULT, 1, true}, /* OpTypeFunction */
    {41, 43, TYPED, 0, false}, /* OpConstantTrue to OpConstant */
    {44, 44, TYPED, 0, true}, /* OpConstantComposite */
    {45, 47, TYPED, 0, false}, /* OpConstantSampler, OpConstantNull, and a number that is not in use */
    {48, 50, TYPED, 0, false}, /* OpSpecConstantTrue to ...Constant */
    {51, 51, TYPED, 0, true}, /* OpSpecConstantComposite */
    {52, 52, TYPED, 0, false}, /* OpSpecConstantOp */
    {54, 55, TYPED, 0, false}, /* OpFunction to OpFunctionParameter */
    {56, 56, NO_RESULT, 0, false}, /* OpFunctionEnd */
    {57, 57, TYPED, 1, true}, /* OpFunctionCall */
    {59, 59, TYPED, 0, false}, /* OpVariable */
    {60, 60, TYPED, 3, false}, /* OpImageTexelPointer */
    {61, 61, TYPED, 1, false}, /* OpLoad */
    {62, 63, NO_RESULT, 2, false}, /* OpStore to OpCopyMemory */
    {65, 66, TYPED, 1, true}, /* OpAccessChain to OpInBoundsAccessChain */
    {67, 67, TYPED, 2, true}, /* OpPtrAccessChain */
    {68, 68, TYPED, 1, false}, /* OpArrayLength */
    {71, 72, NO_RESULT, 1, false}, /* OpDecorate to OpMemberDecorate */
    {73, 73, RESULT, 0, false}, /* OpDecorationGroup */
    {74, 74, NO_RESULT, 1, true}, /* OpGroupDecorate */
    {75, 75, NO_RESULT, 1, false}, /* OpGroupMemberDecorate */
    {77, 77, TYPED, 2, false}, /* OpVectorExtractDynamic */
    {78, 78, TYPED, 3, false}, /* OpVectorInsertDynamic */
    {79, 79, TYPED, 2, false}, /* OpVectorShuffle */
    {80, 80, TYPED, 0, true}, /* OpCompositeConstruct */
    {81, 81, TYPED, 1, false}, /* OpCompositeExtract */
    {82, 82, TYPED, 2, false}, /* OpCompositeInsert */
    {83, 84, TYPED, 1, false}, /* OpCopyObject to OpTranspose */
    {86, 88, TYPED, 2, false}, /* OpSampledImage to OpImageSampleExplicitLod */
    {89, 90, TYPED, 3, false}, /* OpImageSampleDrefImplicitLod to ...ExplicitLod */
    {91, 92, TYPED, 2, false}, /* OpImageSampleProjImplicitLod to ...ExplicitLod */
    {93, 94, TYPED, 3, false}, /* OpImageSampleProjDrefImplicitLod to ...ExplicitLod */
    {95, 95, TYPED, 2, false}, /* OpImageFetch */
    {96, 97, TYPED, 3, false}, /* OpImageGather to ...DrefGather */
    {98, 98, TYPED, 2, false}, /* OpImageRead */
    {99, 99, NO_RESULT, 3, false}, /* OpImageWrite */
    {100, 100, TYPED, 1, false}, /* OpImage */
    {105, 105, TYPED, 2, false}, /* OpImageQueryLod */
    {109, 116, TYPED, 1, false}, /* OpConvertFToU to OpQuantizeToF16 */
    {124, 124, TYPED, 1, false}, /* OpBitcast */
    {126, 127, TYPED, 1, false}, /* OpSNegate to OpFNegate */
    {128, 152, TYPED, 2, false}, /* OpIAdd to OpSMulExtended */
    {154, 157, TYPED, 1, false}, /* OpAny to OpIsInf */
    {164, 167, TYPED, 2, false}, /* OpLogicalEqual to ...And */
    {168, 168, TYPED, 1, false}, /* OpLogicalNot */
    {169, 169, TYPED, 3, false}, /* OpSelect */
    {170, 191, TYPED, 2, false}, /* OpIEqual to OpFUnordGreaterThanEqual */
    {194, 199, TYPED, 2, false}, /* OpShiftRightLogical to OpBitwiseAnd */
    {200, 200, TYPED, 1, false}, /* OpNot */
    {201, 201, TYPED, 4, false}, /* OpBitFieldInsert */
    {202, 203, TYPED, 3, false}, /* OpBitFieldSExtract to ...UExtract */
    {204, 205, TYPED, 1, false}, /* OpBitReverse to ...Count */
    {207, 215, TYPED, 1, false}, /* OpDPdx to OpFwidthCoarse */
    {224, 224, NO_RESULT, 3, false}, /* OpControlBarrier */
    {225, 225, NO_RESULT, 2, false}, /* OpMemoryBarrier */
    {227, 227, TYPED, 3, false}, /* OpAtomicLoad */
    {228, 228, NO_RESULT, 4, false}, /* OpAtomicStore */
    {229, 229, TYPED, 4, false}, /* OpAtomicExchange */
    {230, 231, TYPED, 6, false}, /* OpAtomicCompareExchange to ...Weak */
    {232, 233, TYPED, 3, false}, /* OpAtomicIIncrement to ...Decrement */
    {234, 242, TYPED, 4, false}, /* OpAtomicIAdd to ...Xor */
    {245, 245, TYPED, 0, true}, /* OpPhi */
    {246, 246, NO_RESULT, 2, false}, /* OpLoopMerge */
    {247, 247, NO_RESULT, 1, false}, /* OpSelectionMerge */
    {248, 248, RESULT, 0, false}, /* OpLabel */
    {249, 249, NO_RESULT, 1, false}, /* OpBranch */
    {250, 250, NO_RESULT, 3, false}, /* OpBranchConditional */
    {251, 251, NO_RESULT, 2, false}, /* OpSwitch */
    {252, 253, NO_RESULT, 0, false}, /* OpKill to OpReturn */
    {254, 254, NO_RESULT, 1, false}, /* OpReturnValue */
    {255, 255, NO_RESULT, 0, false}, /* OpUnreachable */
    {305, 306, TYPED, 2, false}, /* OpImageSparseSampleImplicitLod to ...ExplicitLod */
    {307, 308, TYPED, 3, false}, /* OpImageSparseSampleDrefImplicitLod to ...ExplicitLod */
    {309, 310, TYPED, 2, false}, /* OpImageSparseSampleProjImplicitLod to ...ExplicitLod */
    {311, 312, TYPED, 3, false}, /* OpImageSparseSampleProjDrefImplicitLod to ...ExplicitLod */
    {313, 313, TYPED, 2, false}, /* OpImageSparseFetch */
    {314, 315, TYPED, 3, false}, /* OpImageSparseGather to ...DrefGather */
    {316, 316, TYPED, 1, false}, /* OpImageSparseTexelsResident */
    {317, 317, NO_RESULT, 0, false}, /* OpNoLine */
    {320, 320, TYPED, 2, false}, /* OpImageSparseRead */
    {330, 330, NO_RESULT, 0, false}, /* OpModuleProcessed */
    {331, 332, NO_RESULT, 1, false}, /* OpExecutionModeId to OpDecorateId */
    {333, 333, TYPED, 1, false}, /* OpGroupNonUniformElect */
    {334, 336, TYPED, 2, false}, /* OpGroupNonUniformAll to ...AllEqual */
    {337, 337, TYPED, 3, false}, /* OpGroupNonUniformBroadcast */
    {338, 340, TYPED, 2, false}, /* OpGroupNonUniformBroadcastFirst to ...InverseBallot */
    {341, 341, TYPED, 3, false}, /* OpGroupNonUniformBallotBitExtract */
    {342, 342, TYPED, 1, false}, /* OpGroupNonUniformBallotBitCount */
    {343, 344, TYPED, 2, false}, /* OpGroupNonUniformBallotFindLSB to ...MSB */
    {345, 348, TYPED, 3, false}, /* OpGroupNonUniformShuffle to ...ShuffleDown */
    {349, 364, TYPED, 1, false}, /* OpGroupNonUniformIAdd to ...LogicalXor */
    {365, 366, TYPED, 3, false}, /* OpGroupNonUniformQuadBroadcast to ...Swap */
    {400, 400, TYPED, 1, false}, /* OpCopyLogical */
    {401, 402, TYPED, 2, false}, /* OpPtrEqual to ...NotEqual */
    /* clang-format on */
};

enum { DEFINED = 1, USED = 2, IS_FUNCTION = 4, IS_ENTRY = 8 };

struct check {
    const uint32_t *words;
    size_t count;
    uint32_t bound;
    uint8_t *ids; /* bound flag sets */
    bool all_known;
    bool in_function;
    int section; /* of the newest instruction, see section_of */
    uint32_t memory_models;
    uint32_t entry_points;
    const weft_host *host;
};

static const struct layout *find_layout(uint32_t opcode) {
    size_t low = 0;
    size_t high = sizeof layouts / sizeof layouts[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (opcode > layouts[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < sizeof layouts / sizeof layouts[0] && opcode >= layouts[low].first;
    return found ? &layouts[low] : NULL;
}

bool weft_spirv_has_typed_result(uint32_t opcode) {
    const struct layout *layout = find_layout(opcode);
    return layout && layout->form == TYPED;
}

/* Words that a literal string takes, with its terminating zero; 0 when it does not end. */
static size_t string_words(const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        /* The string's bytes fill each word from its low end; a zero byte ends it. */
        for (uint32_t shift = 0; shift < 32; shift += 8) {
            if ((words[i] >> shift & 0xFFu) == 0) {
                return i + 1;
            }
        }
    }
    return 0;
}

uint32_t weft_spirv_interface_start(const uint32_t *entry_point) {
    const size_t words = weft_spirv_length(entry_point[0]) - 3;
    return 3 + (uint32_t)string_words(entry_point + 3, words);
}

bool weft_spirv_interface_has(const uint32_t *entry_point, uint32_t variable) {
    const uint32_t length = weft_spirv_length(entry_point[0]);
    uint32_t i = weft_spirv_interface_start(entry_point);
    while (i < length && entry_point[i] != variable) {
        i++;
    }
    return i < length;
}

bool weft_spirv_string_is(const uint32_t *words, size_t count, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i <= length; i++) {
        if (i / 4 >= count) {
            return false;
        }
        uint32_t byte = words[i / 4] >> (8 * (i % 4)) & 0xFFu;
        if (byte != (unsigned char)text[i]) {
            return false;
        }
    }
    return true;
}

static weft_status fail_at(const struct check *check, size_t at, const char *what) {
    return weft_fail(check->host, WEFT_COMPILE_ERROR, "SPIR-V module, word %zu (opcode %u): %s", at,
                     weft_spirv_opcode(check->words[at]), what);
}

static weft_status use_ids(struct check *check, size_t at, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        uint32_t id = check->words[at + i];
        if (id == 0 || id >= check->bound) {
            return fail_at(check, at, "an id is outside the module's bound");
        }
        check->ids[id] |= USED;
    }
    return WEFT_OK;
}

static weft_status define_id(struct check *check, size_t at, uint32_t id) {
    if (id == 0 || id >= check->bound) {
        return fail_at(check, at, "the result id is outside the module's bound");
    }
    if ((check->ids[id] & DEFINED) != 0) {
        return fail_at(check, at, "the result id is defined twice");
    }
    check->ids[id] |= DEFINED;
    if (weft_spirv_opcode(check->words[at]) == WEFT_OP_FUNCTION) {
        check->ids[id] |= IS_FUNCTION;
    }
    return WEFT_OK;
}

/* Where an instruction's literal string starts; 0 for instructions without one. */
static size_t string_start(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_SOURCE_CONTINUED:
    case WEFT_OP_SOURCE_EXTENSION:
    case WEFT_OP_EXTENSION:
    case WEFT_OP_MODULE_PROCESSED:
        return 1;
    case WEFT_OP_NAME:
    case WEFT_OP_STRING:
    case WEFT_OP_EXT_INST_IMPORT:
        return 2;
    case WEFT_OP_MEMBER_NAME:
    case WEFT_OP_ENTRY_POINT:
        return 3;
    default:
        return 0;
    }
}

static weft_status check_string(const struct check *check, size_t at, size_t length) {
    size_t start = string_start(weft_spirv_opcode(check->words[at]));
    if (start == 0) {
        return WEFT_OK;
    }
    if (length <= start || string_words(check->words + at + start, length - start) == 0) {
        return fail_at(check, at, "a literal string does not end");
    }
    return WEFT_OK;
}

static weft_status check_entry_point(struct check *check, size_t at, size_t length) {
    const size_t interface = weft_spirv_interface_start(check->words + at);
    WEFT_TRY(use_ids(check, at, 2, 3));
    WEFT_TRY(use_ids(check, at, interface, length));
    check->ids[check->words[at + 2]] |= IS_ENTRY;
    check->entry_points++;
    return WEFT_OK;
}

/* The order of a module's beginning (SPIR-V specification, section 2.4), which passes rely on. */
static int section_of(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_CAPABILITY:
        return 0;
    case WEFT_OP_EXTENSION:
        return 1;
    case WEFT_OP_EXT_INST_IMPORT:
        return 2;
    case WEFT_OP_MEMORY_MODEL:
        return 3;
    case WEFT_OP_ENTRY_POINT:
        return 4;
    case WEFT_OP_EXECUTION_MODE:
    case WEFT_OP_EXECUTION_MODE_ID:
        return 5;
    default:
        return 6;
    }
}

static weft_status check_order(struct check *check, size_t at) {
    const int section = section_of(weft_spirv_opcode(check->words[at]));
    if (section < check->section) {
        return fail_at(check, at, "it belongs before the instructions that it follows");
    }
    check->section = section;
    return WEFT_OK;
}

/*
 * Instructions whose operands the table cannot tell, or that say something about the whole module.
 */
static weft_status check_particular(struct check *check, size_t at, size_t length) {
    switch (weft_spirv_opcode(check->words[at])) {
    case WEFT_OP_ENTRY_POINT:
        return check_entry_point(check, at, length);
    case WEFT_OP_EXT_INST:
        if (length < 5) {
            return fail_at(check, at, "too few words");
        }
        return use_ids(check, at, 5, length);
    case WEFT_OP_MEMORY_MODEL:
        check->memory_models++;
        return length == 3 ? WEFT_OK : fail_at(check, at, "a wrong number of words");
    case WEFT_OP_FUNCTION:
        if (check->in_function) {
            return fail_at(check, at, "a function starts inside another");
        }
        check->in_function = true;
        return WEFT_OK;
    case WEFT_OP_FUNCTION_END:
        if (!check->in_function) {
            return fail_at(check, at, "a function ends that has not started");
        }
        check->in_function = false;
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}

static weft_status check_ids(struct check *check, size_t at, size_t length) {
    const struct layout *layout = find_layout(weft_spirv_opcode(check->words[at]));
    if (!layout) {
        check->all_known = false;
        return WEFT_OK;
    }
    size_t operands = 1u + layout->form;
    if (length < operands + layout->ids) {
        return fail_at(check, at, "too few words");
    }
    if (layout->form == TYPED) {
        WEFT_TRY(use_ids(check, at, 1, 2));
    }
    if (layout->form != NO_RESULT) {
        WEFT_TRY(define_id(check, at, check->words[at + operands - 1]));
    }
    return use_ids(check, at, operands, layout->more_ids ? length : operands + layout->ids);
}

static weft_status check_instructions(struct check *check) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (at < check->count) {
        size_t length = weft_spirv_length(check->words[at]);
        if (length == 0) {
            return fail_at(check, at, "an instruction of no words");
        }
        if (length > check->count - at) {
            return fail_at(check, at, "the instruction reaches beyond the module's end");
        }
        WEFT_TRY(check_order(check, at));
        WEFT_TRY(check_ids(check, at, length));
        WEFT_TRY(check_string(check, at, length));
        WEFT_TRY(check_particular(check, at, length));
        at += length;
    }
    return WEFT_OK;
}

static weft_status check_whole(const struct check *check) {
    if (check->in_function) {
        return weft_fail(check->host, WEFT_COMPILE_ERROR, "SPIR-V module: it ends in a function");
    }
    if (check->memory_models != 1 || check->entry_points == 0) {
        return weft_fail(check->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: %u memory models and %u entry points, expected one and "
                         "at least one",
                         check->memory_models, check->entry_points);
    }
    for (uint32_t id = 1; id < check->bound; id++) {
        uint8_t flags = check->ids[id];
        if (check->all_known && (flags & (USED | DEFINED)) == USED) {
            return weft_fail(check->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module: id %u is used and not defined", id);
        }
        if ((flags & IS_ENTRY) != 0 && (flags & IS_FUNCTION) == 0) {
            return weft_fail(check->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module: id %u is an entry point and not a function", id);
        }
    }
    return WEFT_OK;
}

static weft_status check_header(const uint32_t *words, size_t size, const weft_host *host) {
    if (size % 4 != 0 || size / 4 < WEFT_SPIRV_HEADER_WORDS) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: %zu bytes, expected a multiple of 4 and at least %u", size,
                         4 * WEFT_SPIRV_HEADER_WORDS);
    }
    if (words[WEFT_SPIRV_AT_MAGIC] != WEFT_SPIRV_MAGIC) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: starts with 0x%08x, expected 0x%08x",
                         words[WEFT_SPIRV_AT_MAGIC], WEFT_SPIRV_MAGIC);
    }
    uint32_t version = words[WEFT_SPIRV_AT_VERSION];
    if (version < 0x10000u || version > 0x10600u || (version & 0xFFu) != 0) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: version word 0x%08x, expected 1.0 to 1.6", version);
    }
    uint32_t bound = words[WEFT_SPIRV_AT_BOUND];
    const uint32_t most = weft_spirv_most_ids(size / 4);
    if (bound == 0 || bound > most) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: bound %u, expected 1 to %u in a module of %zu words",
                         bound, most, size / 4);
    }
    if (words[WEFT_SPIRV_AT_SCHEMA] != 0) {
        return weft_fail(host, WEFT_COMPILE_ERROR, "SPIR-V module: schema %u, expected 0",
                         words[WEFT_SPIRV_AT_SCHEMA]);
    }
    return WEFT_OK;
}

weft_status weft_spirv_check(const uint32_t *words, size_t size, const weft_host *host) {
    WEFT_TRY(check_header(words, size, host));
    struct check check = {.words = words,
                          .count = size / 4,
                          .bound = words[WEFT_SPIRV_AT_BOUND],
                          .all_known = true,
                          .host = host};
    check.ids = weft_alloc_zero(host, check.bound, 1);
    if (!check.ids) {
        return weft_fail_memory(host, "SPIR-V ids");
    }
    weft_status status = check_instructions(&check);
    if (status == WEFT_OK) {
        status = check_whole(&check);
    }
    weft_free(host, check.ids);
    return status;
}

bool weft_spirv_has_compute_main(const uint32_t *words, size_t size) {
    size_t count = size / 4;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(words[at])) {
        size_t length = weft_spirv_length(words[at]);
        if (weft_spirv_opcode(words[at]) == WEFT_OP_ENTRY_POINT &&
            words[at + 1] == WEFT_EXECUTION_MODEL_GL_COMPUTE &&
            weft_spirv_string_is(words + at + 3, length - 3, "main")) {
            return true;
        }
    }
    return false;
}
