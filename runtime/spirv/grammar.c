/* SPDX-License-Identifier: MIT */
#define SPV_ENABLE_UTILITY_CODE
/* An inline function has one definition with a name that a linker sees. A static library's must not meet a program's own. */
#define SpvHasResultAndType weft_spirv_has_result_and_type
#include "spirv/grammar.h"

#include <string.h>

/* The header defines it inline, which needs one definition that is not. */
extern void SpvHasResultAndType(SpvOp opcode, bool *has_result, bool *has_type);

/*
 * The operands of instructions with numbers from `first` to `last`, behind type and result. `words` has a letter for each that is always
 * there: i for an id, l for a literal, s for the first of a string; * at the end says that all others are ids. x: no instruction has the
 * number, and none may. The section is said where it is another than that of declarations, or a function.
 */
struct row {
    uint16_t first, last;
    char words[7];
    uint8_t section; /* enum weft_spirv_section, or 0 */
};

#define OF(section, first, last, words) {SpvOp##first, SpvOp##last, words, WEFT_SPIRV_##section},
#define ROW(first, last, words)         {SpvOp##first, SpvOp##last, words, 0},

/*
 * The instructions of SPIR-V 1.6 that shaders use, in the order of their numbers. Those of OpenCL kernels and of extensions are not here:
 * their operands are not looked at, and a module with one of them may use ids that seem undefined. Types, constants and atomics are
 * complete, since readers of modules tell them by the range of their numbers.
 */
static const struct row rows[] = {
    /* clang-format off */
    ROW(Nop, Undef, "")
    OF(DEBUG, SourceContinued, SourceContinued, "s")
    OF(DEBUG, Source, Source, "ll")
    OF(DEBUG, SourceExtension, SourceExtension, "s")
    OF(DEBUG, Name, Name, "is")
    OF(DEBUG, MemberName, MemberName, "ils")
    OF(DEBUG, String, String, "s")
    ROW(Line, Line, "ill")
    OF(EXTENSIONS, Extension, Extension, "s")
    OF(IMPORTS, ExtInstImport, ExtInstImport, "s")
    ROW(ExtInst, ExtInst, "il*")
    OF(MEMORY_MODEL, MemoryModel, MemoryModel, "ll")
    OF(ENTRY_POINTS, EntryPoint, EntryPoint, "lis")
    OF(MODES, ExecutionMode, ExecutionMode, "il")
    OF(CAPABILITIES, Capability, Capability, "l")
    ROW(TypeVoid, TypeBool, "")
    ROW(TypeInt, TypeInt, "ll")
    ROW(TypeFloat, TypeFloat, "l")
    ROW(TypeVector, TypeMatrix, "il")
    ROW(TypeImage, TypeImage, "i")
    ROW(TypeSampler, TypeSampler, "")
    ROW(TypeSampledImage, TypeSampledImage, "i")
    ROW(TypeArray, TypeArray, "ii")
    ROW(TypeRuntimeArray, TypeRuntimeArray, "i")
    ROW(TypeStruct, TypeStruct, "*")
    ROW(TypeOpaque, TypeOpaque, "s")
    ROW(TypePointer, TypePointer, "li")
    ROW(TypeFunction, TypeFunction, "i*")
    ROW(ConstantTrue, ConstantFalse, "")
    ROW(Constant, Constant, "l")
    ROW(ConstantComposite, ConstantComposite, "*")
    ROW(ConstantSampler, ConstantNull, "")
    {47, 47, "x", 0},
    ROW(SpecConstantTrue, SpecConstantFalse, "")
    ROW(SpecConstant, SpecConstant, "l")
    ROW(SpecConstantComposite, SpecConstantComposite, "*")
    ROW(SpecConstantOp, SpecConstantOp, "l")
    OF(FUNCTIONS, Function, Function, "li")
    ROW(FunctionParameter, FunctionEnd, "")
    ROW(FunctionCall, FunctionCall, "i*")
    ROW(Variable, Variable, "l")
    ROW(ImageTexelPointer, ImageTexelPointer, "iii")
    ROW(Load, Load, "i")
    ROW(Store, CopyMemory, "ii")
    ROW(AccessChain, InBoundsAccessChain, "i*")
    ROW(PtrAccessChain, PtrAccessChain, "ii*")
    ROW(ArrayLength, ArrayLength, "il")
    OF(ANNOTATIONS, Decorate, Decorate, "il")
    OF(ANNOTATIONS, MemberDecorate, MemberDecorate, "ill")
    OF(ANNOTATIONS, DecorationGroup, DecorationGroup, "")
    OF(ANNOTATIONS, GroupDecorate, GroupDecorate, "i*")
    OF(ANNOTATIONS, GroupMemberDecorate, GroupMemberDecorate, "i")
    ROW(VectorExtractDynamic, VectorExtractDynamic, "ii")
    ROW(VectorInsertDynamic, VectorInsertDynamic, "iii")
    ROW(VectorShuffle, VectorShuffle, "ii")
    ROW(CompositeConstruct, CompositeConstruct, "*")
    ROW(CompositeExtract, CompositeExtract, "i")
    ROW(CompositeInsert, CompositeInsert, "ii")
    ROW(CopyObject, Transpose, "i")
    ROW(SampledImage, ImageSampleExplicitLod, "ii")
    ROW(ImageSampleDrefImplicitLod, ImageSampleDrefExplicitLod, "iii")
    ROW(ImageSampleProjImplicitLod, ImageSampleProjExplicitLod, "ii")
    ROW(ImageSampleProjDrefImplicitLod, ImageSampleProjDrefExplicitLod, "iii")
    ROW(ImageFetch, ImageFetch, "ii")
    ROW(ImageGather, ImageDrefGather, "iii")
    ROW(ImageRead, ImageRead, "ii")
    ROW(ImageWrite, ImageWrite, "iii")
    ROW(Image, Image, "i")
    ROW(ImageQueryLod, ImageQueryLod, "ii")
    ROW(ConvertFToU, QuantizeToF16, "i")
    ROW(Bitcast, FNegate, "i")
    ROW(IAdd, SMulExtended, "ii")
    ROW(Any, IsInf, "i")
    ROW(LogicalEqual, LogicalAnd, "ii")
    ROW(LogicalNot, LogicalNot, "i")
    ROW(Select, Select, "iii")
    ROW(IEqual, FUnordGreaterThanEqual, "ii")
    ROW(ShiftRightLogical, BitwiseAnd, "ii")
    ROW(Not, Not, "i")
    ROW(BitFieldInsert, BitFieldInsert, "iiii")
    ROW(BitFieldSExtract, BitFieldUExtract, "iii")
    ROW(BitReverse, BitCount, "i")
    ROW(DPdx, FwidthCoarse, "i")
    ROW(ControlBarrier, ControlBarrier, "iii")
    ROW(MemoryBarrier, MemoryBarrier, "ii")
    ROW(AtomicLoad, AtomicLoad, "iii")
    ROW(AtomicStore, AtomicExchange, "iiii")
    ROW(AtomicCompareExchange, AtomicCompareExchangeWeak, "iiiiii")
    ROW(AtomicIIncrement, AtomicIDecrement, "iii")
    ROW(AtomicIAdd, AtomicXor, "iiii")
    ROW(Phi, Phi, "*")
    ROW(LoopMerge, LoopMerge, "iil")
    ROW(SelectionMerge, SelectionMerge, "il")
    ROW(Label, Label, "")
    ROW(Branch, Branch, "i")
    ROW(BranchConditional, BranchConditional, "iii")
    ROW(Switch, Switch, "ii")
    ROW(Kill, Return, "")
    ROW(ReturnValue, ReturnValue, "i")
    ROW(Unreachable, Unreachable, "")
    ROW(ImageSparseSampleImplicitLod, ImageSparseSampleExplicitLod, "ii")
    ROW(ImageSparseSampleDrefImplicitLod, ImageSparseSampleDrefExplicitLod, "iii")
    ROW(ImageSparseSampleProjImplicitLod, ImageSparseSampleProjExplicitLod, "ii")
    ROW(ImageSparseSampleProjDrefImplicitLod, ImageSparseSampleProjDrefExplicitLod, "iii")
    ROW(ImageSparseFetch, ImageSparseFetch, "ii")
    ROW(ImageSparseGather, ImageSparseDrefGather, "iii")
    ROW(ImageSparseTexelsResident, ImageSparseTexelsResident, "i")
    ROW(NoLine, NoLine, "")
    ROW(ImageSparseRead, ImageSparseRead, "ii")
    OF(DEBUG, ModuleProcessed, ModuleProcessed, "s")
    OF(MODES, ExecutionModeId, ExecutionModeId, "il*")
    OF(ANNOTATIONS, DecorateId, DecorateId, "il*")
    ROW(GroupNonUniformElect, GroupNonUniformElect, "i")
    ROW(GroupNonUniformAll, GroupNonUniformAllEqual, "ii")
    ROW(GroupNonUniformBroadcast, GroupNonUniformBroadcast, "iii")
    ROW(GroupNonUniformBroadcastFirst, GroupNonUniformInverseBallot, "ii")
    ROW(GroupNonUniformBallotBitExtract, GroupNonUniformBallotBitExtract, "iii")
    ROW(GroupNonUniformBallotBitCount, GroupNonUniformBallotBitCount, "ili")
    ROW(GroupNonUniformBallotFindLSB, GroupNonUniformBallotFindMSB, "ii")
    ROW(GroupNonUniformShuffle, GroupNonUniformShuffleDown, "iii")
    ROW(GroupNonUniformIAdd, GroupNonUniformLogicalXor, "ili*")
    ROW(GroupNonUniformQuadBroadcast, GroupNonUniformQuadSwap, "iii")
    ROW(CopyLogical, CopyLogical, "i")
    ROW(PtrEqual, PtrNotEqual, "ii")
    ROW(SDot, SUDot, "ii")
    /* clang-format on */
};
#define ROWS (sizeof rows / sizeof rows[0])

/* Without branches that a processor would guess wrong: every instruction of every module comes by. */
static const struct row *find_row(uint32_t opcode) {
    const struct row *row = rows;
    for (size_t count = ROWS; count > 1; count -= count / 2) {
        row = row[count / 2 - 1].last < opcode ? row + count / 2 : row;
    }
    return opcode >= row->first && opcode <= row->last ? row : NULL;
}

uint32_t weft_spirv_result(uint32_t *type, uint32_t opcode) {
    bool has_result = false;
    bool has_type = false;
    SpvHasResultAndType((SpvOp)opcode, &has_result, &has_type);
    *type = has_type;
    return has_result ? 1u + has_type : 0;
}

struct weft_spirv_layout weft_spirv_layout(uint32_t opcode) {
    struct weft_spirv_layout layout = {0};
    layout.result = weft_spirv_result(&layout.type, opcode);
    layout.first = 1 + (layout.result != 0 ? layout.result : layout.type);
    layout.least = layout.first;
    const struct row *row = find_row(opcode);
    const char *word = row ? row->words : "";
    for (; *word == 'i' || *word == 'l' || *word == 's'; word++) {
        layout.string = *word == 's' ? layout.least : layout.string;
        layout.ids |= (uint32_t)(*word == 'i') << layout.least++;
    }
    layout.least = *word == 'x' ? UINT32_MAX : layout.least;
    layout.more_ids = *word == '*';
    layout.is_known = row != NULL;
    layout.section =
        row && row->section != 0 ? (enum weft_spirv_section)row->section : WEFT_SPIRV_DECLARATIONS;
    return layout;
}

/* Capabilities come first, section 2.4. */
bool weft_spirv_declares(const uint32_t *words, size_t count, uint32_t capability) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS;
         at < count && weft_spirv_opcode(words[at]) == SpvOpCapability;
         at += weft_spirv_length(words[at])) {
        if (words[at + 1] == capability) {
            return true;
        }
    }
    return false;
}

uint32_t weft_spirv_string_words(const uint32_t *words, size_t count) {
    for (uint32_t i = 0; i < count; i++) {
        /* The string's bytes fill each word from its low end; a zero byte ends it. */
        for (uint32_t shift = 0; shift < 32; shift += 8) {
            if ((words[i] >> shift & 0xFFu) == 0) {
                return i + 1;
            }
        }
    }
    return 0;
}

bool weft_spirv_string_is(const uint32_t *words, size_t count, const char *text) {
    const size_t length = strlen(text);
    for (size_t i = 0; i <= length; i++) {
        if (i / 4 >= count || (words[i / 4] >> (8 * (i % 4)) & 0xFFu) != (unsigned char)text[i]) {
            return false;
        }
    }
    return true;
}
