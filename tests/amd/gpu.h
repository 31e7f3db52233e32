/* SPDX-License-Identifier: MIT */
/*
 * An AMD GPU in software: the state of a wave, and decoded instructions. Sources: AMD's "RDNA 2" (November 2020), "RDNA 3" (February 2023)
 * and "Vega 7nm" (January 2020) Instruction Set Architecture documents, and LLVM's User Guide for AMDGPU Backend (AMDGPUUsage).
 *
 * What it is: one wave at a time, each instruction done when it is issued, so that waiting (s_waitcnt, s_delay_alu) does nothing. What it
 * lacks is refused by name: an instruction without an operation, a modifier, a register, an access outside of what a dispatch binds.
 */
#ifndef WEFT_TESTS_AMD_GPU_H
#define WEFT_TESTS_AMD_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMD_LANES     64u  /* of the longest wave: a row of a vector register has so many words */
#define AMD_VGPRS     256u /* of a wave */
#define AMD_OPERANDS  5u
#define AMD_TEXT      256u /* bytes of a message */
#define AMD_BUFFERS   32u
#define AMD_LDS_BYTES 65536u

/** Scalar registers: s0 to s105, and what has a name. A pair begins at its low half. */
enum amd_scalar {
    AMD_VCC = 106,
    AMD_FLAT_SCRATCH = 108,
    AMD_XNACK_MASK = 110,
    AMD_M0 = 124,
    AMD_NULL = 125, /* reads as 0 */
    AMD_EXEC = 126,
    AMD_SCALARS = 128
};

struct amd_gpu {
    const char *name;   /* LLVM's, such as "gfx1030" */
    uint32_t wave_size; /* invocations of a wave */
    bool packed_ids;    /* v0 has all three local ids, of ten bits each */
    bool wave_ids;      /* a workgroup's information has the wave's number from bit 20 on, too */
};

/** Null for a name that is no GPU here. */
const struct amd_gpu *amd_gpu_find(const char *name);

/* ---- instructions ---- */

enum amd_operand_kind {
    AMD_NOTHING = 0, /* "off" */
    AMD_VECTOR,
    AMD_SCALAR,
    AMD_CONSTANT, /* an inline constant or a literal */
    AMD_SCC,
    AMD_WORDS /* a register's name that only one instruction knows, in `name` */
};

/** Parts of a register that SDWA selects. */
enum amd_part {
    AMD_DWORD = 0,
    AMD_BYTE_0,
    AMD_BYTE_1,
    AMD_BYTE_2,
    AMD_BYTE_3,
    AMD_WORD_0,
    AMD_WORD_1
};

struct amd_operand {
    uint8_t kind; /* enum amd_operand_kind */
    uint8_t words;
    uint16_t index;        /* of the first register */
    bool is_float, is_hex; /* how a constant is written */
    bool negate, absolute, extend;
    uint8_t part; /* enum amd_part */
    int64_t integer;
    double real;
    char name[40];
};

/** What stands behind the operands; numbers that are not there are 0. */
struct amd_modifiers {
    int32_t offset, offset0, offset1;
    bool glc, clamp, offen, by_lanes /* DPP */;
    uint8_t omod;                 /* 0, 1: times 2, 2: times 4, 3: half */
    uint8_t dst_part, dst_unused; /* enum amd_part; 0: zeros, 1: sign, 2: as it was */
    uint16_t lanes;               /* DPP's control */
    uint8_t row_mask, bank_mask;
    bool bound_zero;
    uint8_t
        signed_ones; /* of operations of bytes (iu8): bit 0, the first factor's bytes have signs; bit 1, the second's */
};

struct amd_wave;
struct amd_operation;

struct amd_instruction {
    const struct amd_operation *operation;
    uint32_t place;  /* word of the program */
    uint32_t words;  /* of its encoding */
    uint32_t target; /* of a branch: index of an instruction */
    uint8_t count;
    bool is_pair; /* it and the next one are one instruction of RDNA 3 */
    struct amd_operand operands[AMD_OPERANDS];
    struct amd_modifiers with;
};

/** A family's way to run its operations. */
typedef void amd_run(struct amd_wave *wave, const struct amd_instruction *instruction);

struct amd_mode;
/** Computes `n` lanes. Registers of 64 bits have their high halves AMD_LANES words behind. */
typedef void amd_lanes(uint32_t *restrict to, const uint32_t *a, const uint32_t *b,
                       const uint32_t *c, uint32_t n, const struct amd_mode *mode);

struct amd_operation {
    const char *name; /* without _e32, _e64, _sdwa, _dpp */
    amd_run *run;
    amd_lanes *lanes; /* of vector operations */
    uint8_t to_words, from_words[3];
    uint8_t
        float_bits; /* of float operands, which may have signs and the output modifiers; 0: integers */
    int32_t detail; /* the family's own */
};

/** The families' tables; each ends with an operation without a name. */
extern const struct amd_operation amd_scalar_operations[], amd_control_operations[],
    amd_float_operations[], amd_integer_operations[], amd_compare_operations[],
    amd_carry_operations[], amd_lane_operations[], amd_matrix_operations[], amd_memory_operations[],
    amd_local_operations[];

/** The operation that a name with its suffix means, or null. */
const struct amd_operation *amd_operation_find(const char *name);

/**
 * Reads an instruction as LLVM's disassembler writes it, "v_add_f32_e32 v1, s2, v3". False with a message that names what is not known.
 */
bool amd_parse(struct amd_instruction *instruction, const char *text, char error[AMD_TEXT]);

/* ---- programs ---- */

/** A loaded program: code and constants as one region of memory, and the instructions. */
struct amd_program {
    const struct amd_gpu *gpu;
    uint8_t *bytes; /* of the region */
    size_t size, code_size;
    uint64_t address; /* of the region, as the code sees it */
    struct amd_instruction *instructions;
    uint32_t count;
    uint32_t *of_word; /* instruction at a word of the code, or UINT32_MAX */
    uint32_t entry;    /* index of an instruction */
    uint32_t lds, private_bytes, argument_bytes;
    uint32_t resources1, resources2,
        properties; /* compute_pgm_rsrc1 and 2, kernel_code_properties */
    uint32_t local_size[3];
    uint32_t vgprs;
    uint32_t argument_count;
    struct amd_argument {
        uint32_t offset, size;
        bool is_buffer;
    } arguments[AMD_BUFFERS];
};

/* ---- running ---- */

/** Bits of the mode register and of the kernel descriptor. */
struct amd_mode {
    uint32_t flush32_in, flush32_out; /* all ones where subnormals are zeros */
    uint32_t flush64_in, flush64_out; /* of 64 and 16 bits */
    uint8_t round32, round64;         /* 0 nearest, 1 up, 2 down, 3 to zero */
    double least; /* results that are flushed are less in magnitude, before they are rounded */
    bool ieee, dx10_clamp;
    int32_t
        side; /* of approximate results, within what they may be: 0 nearest, 1 greater, -1 smaller magnitude */
};

/** Memory in the GPU's addresses: region number << 40, then bytes. */
struct amd_region {
    uint8_t *bytes; /* null: none */
    size_t size;
    bool writable;
};

enum { AMD_REGION_PROGRAM = 1, AMD_REGION_ARGUMENTS = 2, AMD_REGION_BUFFERS = 3 };
#define AMD_REGIONS         (AMD_REGION_BUFFERS + AMD_BUFFERS)
#define AMD_ADDRESS(region) ((uint64_t)(region) << 40)
#define AMD_SCRATCH_ADDRESS AMD_ADDRESS(200) /* of wave 0; each wave has AMD_SCRATCH_STEP */
#define AMD_SCRATCH_STEP    (UINT32_C(1) << 20)

struct amd_dispatch {
    const struct amd_program *program;
    struct amd_region regions[AMD_REGIONS];
    /* In place of the regions, where a GPU's whole memory is there: null for bytes that are not. */
    uint8_t *(*memory)(void *user, uint64_t address, uint32_t size);
    void *memory_user;
    const uint32_t *user; /* what the first scalar registers begin with, or null: AMDGPUUsage's */
    uint32_t first[3];    /* workgroup; those before it are left out */
    uint32_t groups[3];
    uint32_t last_size
        [3];      /* invocations of the last groups along each axis; 0: as many as of the others */
    int32_t side; /* of approximate results, as in struct amd_mode */
    bool tiny_before;      /* results are judged subnormal before they are rounded, not after */
    bool keeps_subnormals; /* a rule broken on purpose: whatever the kernel says */
    bool last_first;       /* waves run in reverse order between barriers */
    uint64_t *counts;      /* executions by instruction of the program, or null */
    char error[AMD_TEXT];
};

/** Runs all groups; false with a message. */
bool amd_dispatch_run(struct amd_dispatch *dispatch);

/** counts.c: adds a program's counts to what WEFT_AMD_COUNTS gets at the end. */
void amd_counts_add(const struct amd_program *program, const uint64_t *counts);

struct amd_wave {
    uint32_t s[AMD_SCALARS];
    uint32_t active[AMD_LANES]; /* all ones where EXEC has the lane, as of `active_exec` */
    uint64_t active_exec;
    bool active_known;
    bool scc, done, waits; /* `waits`: at a barrier */
    bool named;            /* the message says which instruction it was */
    uint32_t at;           /* index of the next instruction */
    uint32_t lanes;        /* the wave's size */
    struct amd_mode mode;
    uint32_t mode_bits; /* the mode register */
    bool indexed;       /* s_set_gpr_idx_on */
    uint32_t index_bits;
    uint8_t *local;
    uint32_t local_size;
    uint8_t *private_bytes; /* private_size bytes of each lane */
    uint32_t private_size;
    uint32_t number;  /* in the workgroup */
    uint32_t size[3]; /* of the workgroup */
    uint32_t vgprs;
    struct amd_dispatch *dispatch;
    const struct amd_program *program;
    char *error; /* AMD_TEXT bytes; the first message ends the wave */
    uint32_t v[AMD_VGPRS][AMD_LANES];
};

/** Sets the mode from bits as the mode register has them: rounding 3:0, subnormals 7:4, DX10 clamp 8, IEEE 9. */
void amd_mode_set(struct amd_wave *wave, uint32_t bits);

/** Ends the wave with a message. */
void amd_fail(struct amd_wave *wave, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Runs until the end, a barrier or an error. */
void amd_wave_run(struct amd_wave *wave);

/* ---- what families share: operand.c ---- */

uint64_t amd_exec(const struct amd_wave *wave);
/** Words of `active`, for the present EXEC. */
const uint32_t *amd_active(struct amd_wave *wave);

/** Scalar operands of one or two words. */
uint64_t amd_scalar_read(struct amd_wave *wave, const struct amd_operand *operand, uint32_t words);
void amd_scalar_write(struct amd_wave *wave, const struct amd_operand *operand, uint64_t value,
                      uint32_t words);
/** A mask of lanes: a scalar register of as many bits as the wave has lanes. */
uint64_t amd_mask_read(struct amd_wave *wave, const struct amd_operand *operand);
void amd_mask_write(struct amd_wave *wave, const struct amd_operand *operand, uint64_t value);

/**
 * Operand `which` of a vector instruction, in rows of AMD_LANES words: the register itself, or `room`. `position` is the place among its
 * sources, as the register index mode counts.
 */
const uint32_t *amd_vector_read(struct amd_wave *wave, const struct amd_instruction *instruction,
                                uint32_t which, uint32_t words, uint32_t float_bits, uint32_t *room,
                                uint32_t position);
/** Writes active lanes of a vector register. */
void amd_vector_write(struct amd_wave *wave, const struct amd_instruction *instruction,
                      const struct amd_operand *operand, const uint32_t *values, uint32_t words);
/** The register of an operand whose lanes are written one by one; null with a failure. */
uint32_t *amd_vector_row(struct amd_wave *wave, const struct amd_operand *operand, uint32_t words);

/** A buffer resource, of four scalar registers. */
struct amd_resource {
    uint64_t base, bytes;
};
/** False with a failure, where it has a stride, is swizzled, or adds the lane's number. */
bool amd_resource_read(struct amd_wave *wave, struct amd_resource *resource,
                       const struct amd_operand *operand);

/** Bytes of the GPU's memory; null with a failure where they are outside. */
uint8_t *amd_memory_at(struct amd_wave *wave, uint64_t address, uint32_t size, bool writes);

#endif
