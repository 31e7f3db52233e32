/* SPDX-License-Identifier: MIT */
/*
 * The weight matrices W [s, d] of random-feature attention, made on the host. Row i of W is ω_i; a kernel is estimated by
 *
 *   K(x, y) ≈ Σ_i weights[i] f(ω_i, x) f(ω_i, y)
 *
 * with a component function f such as exp(ωᵀx - ‖x‖²/2). Spectraformer, equation (11): weights[i] is a_i²/s, 1/s for
 * most kinds. Where weights differ, query features are multiplied by √|weight| and key features by sign(weight)
 * √|weight|. All kinds but the last two represent ω ~ N(0, I), which is σ = 1 in the paper's equations: divide W by σ
 * for another bandwidth.
 *
 * Every draw is from Philox4x32-10. The arithmetic is + - × ÷ and square roots of doubles in a fixed order, with Weft's
 * own logarithm, exponential, sine and cosine. Equal parameters give equal bits on every host.
 *
 * Unless noted otherwise, a row does not depend on `rows` (fewer rows are the first of more) and has the distribution
 * N(0, I) over seeds, and the estimate is unbiased. Thread safe.
 */
#ifndef WEFT_FEATURES_H
#define WEFT_FEATURES_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FEATURES_MAX_ROWS    (1U << 20)
#define WEFT_FEATURES_MAX_COLUMNS 4096U
#define WEFT_FEATURES_MAX_FACTORS 16U
#define WEFT_FEATURES_MAX_SWEEPS  64U

/**
 * Kinds of matrices, with the equation in the Spectraformer paper. n is the smallest power of two ≥ columns, and H the
 * n×n Walsh-Hadamard matrix with entries ±1/√n. A structured matrix is a stack of n×n blocks. Only their first
 * `columns` columns are used (x is padded with zeros), and the last block is truncated to the rows needed.
 */
typedef enum weft_features_kind {
    /** Independent N(0, 1) entries. Rahimi and Recht, 2007; (16). */
    WEFT_FEATURES_BASE = 0,
    /** Blocks of `columns` orthogonal rows: Q of a Gaussian matrix's QR factors, times norms. Yu et al., 2016; (21). */
    WEFT_FEATURES_ORF,
    /**
     * √n · H D_1 H D_2 H D_3 with random signs D: rows of length exactly √n over n columns, orthogonal in a block, entries
     * exact. Not normal, so the estimate has a bias that vanishes as n grows. Yu et al., 2016; (22).
     */
    WEFT_FEATURES_SORF,
    /** √n · Π H D_i over i = 1 … factors; SORF is 3 factors. Choromanski et al., 2017; (23). Biased as SORF. */
    WEFT_FEATURES_ROM,
    /**
     * √n · H U Π H D_i over i = 1 … factors - 1, with U uniform on the complex unit circle; (24). In real rows: 2r and
     * 2r+1 are √2 times the real and the imaginary part of complex row r. For linear features the sum over the pair is
     * then the paper's Real(conj(φ(x))ᵀ φ(y)); for all other component functions each row is an ordinary ω. `rows` is
     * even. Biased as SORF.
     */
    WEFT_FEATURES_S_HYBRID,
    /**
     * S H' G P H' B / √n with H' = √n H, random signs B, a random permutation P, normals G and S_ii = norm_i / ‖G‖, so
     * that rows have the lengths of normal ones. Le et al., 2013; (17), whose ‖G‖^(-1/2) means the squared norm. S, G
     * and B may be learned (FastFood-L): see weft_features_expand.
     */
    WEFT_FEATURES_FASTFOOD,
    /**
     * Blocks of `columns` rows: diag(σ) C, C the circulant matrix with a normal first column c, C[i][j] = c[(i-j) mod
     * d], and random signs σ, which make the rows of a block uncorrelated. Feng et al., 2015; (18), (19). Uncorrelated
     * rows are not independent. If all elements of x are equal, all rows of a block give the same number but for its
     * sign, and estimates have the variance of one row per block. Few real x are like this; an x with a large mean
     * comes close.
     */
    WEFT_FEATURES_SCRF,
    /**
     * W[i][j] = g[(i + j) mod budget] with `budget` normals g: the P-model whose P_i are 0/1 matrices of unit columns.
     * budget = max(rows, columns) is a circulant (Hankel) matrix, columns + rows - 1 a Hankel matrix without wrapping.
     * Choromanski and Sindhwani, 2016; (20). Rows depend on each other but each is normal: unbiased.
     */
    WEFT_FEATURES_P_MODEL,
    /**
     * Φ⁻¹ of points 1 … rows of a low-discrepancy sequence (point 0 is skipped). Avron et al., 2016; (28). Without
     * `shift` the points are fixed and the seed has no effect; with `shift` every point is uniform and the estimate
     * unbiased.
     */
    WEFT_FEATURES_QMC,
    /**
     * The points of QMC (or normal draws), with their mean subtracted and multiplied by Ã⁻¹, à the Cholesky factor of their
     * covariance (over rows, not rows - 1): W has mean 0 and WᵀW/rows = I. Shen et al., 2017. rows > columns. All rows
     * depend on `rows`. Slightly biased.
     */
    WEFT_FEATURES_MM,
    /**
     * Spherical structured features: radius_i v_i. The v_i are columns of [Re F, -Im F; Im F, Re F]/√(d/2). F has d/2
     * rows of the DFT of prime length p, those numbered ±g^(k(p-1)/d), k = 0 … d/2 - 1. g is a primitive root, and p
     * ≡ 1 mod d the smallest prime with 2p ≥ rows. The numbers are half of a subgroup, as in Lyu, Yuan and Tsang,
     * 2020. Their signs have the least coherence out of 32 choices; Lyu, 2017 descends on the Riesz energy instead. A
     * Haar rotation makes each v_i uniform. Radii are χ_d quantiles of (π(i) + u)/rows, π a random permutation, u
     * uniform. `columns` is even. All rows depend on `rows`.
     */
    WEFT_FEATURES_SSF,
    /**
     * Sparse-grid quadrature of degree 3: 0, √3 e_1 … √3 e_d, -√3 e_1 … -√3 e_d with weights 1 - d/3 (negative for d > 3)
     * and 1/6. Dao et al., 2017. rows = 2 columns + 1. Deterministic: exact for polynomials of degree ≤ 3, not unbiased.
     */
    WEFT_FEATURES_SGQ,
    /**
     * Spherical-radial quadrature of degree 3: 0 and ±ρ Q v_j, v_0 … v_d the vertices of the regular simplex, Q Haar,
     * ρ ~ χ_(d+2), with weights 1 - d/ρ² and d/(2(d+1)ρ²). Munkhoeva et al., 2018. rows = 1 + 2 (columns + 1) t: the
     * average of t rules, which share the centre as row 0. Each is exact for polynomials of degree ≤ 3, and unbiased. (The
     * paper's (2d+1) rows miss the second orientation of the last vertex.) Weights depend on `rows`.
     */
    WEFT_FEATURES_SSR,
    /** Blocks of `columns` ≥ 2 rows D S R: norms D, the simplex S of equation (26), R Haar. Reid et al., 2023; (25). */
    WEFT_FEATURES_SIMRF,
    /**
     * SimRF whose directions follow its norms: starting from S, each row in turn points against the sum of the others,
     * (27), `sweeps` times over; then R. As R is Haar each row is still normal: unbiased.
     */
    WEFT_FEATURES_SIMRF_DEPENDENT,
    /**
     * Powers for weft_graph_discrete_features: independent Poisson numbers of mean λ = `rate`, and the weights
     * Π_l 1/(ω_l! p(ω_l)) / rows = e^(λ columns) λ^(-Σ_l ω_l) / rows. Not for the other component functions. The variance
     * is least at λ = √(mean over l of x_l² y_l²). Likhosherstov et al., 2022; (37).
     */
    WEFT_FEATURES_POISSON,
    /** Likewise of the geometric distribution p(k) = p (1 - p)^k with p = `rate`; weights Π_l 1/(ω_l! p(ω_l)) / rows. */
    WEFT_FEATURES_GEOMETRIC,
    WEFT_FEATURES_KIND_COUNT
} weft_features_kind;

/** Row lengths of ORF, FastFood and SimRF. */
typedef enum weft_features_norm {
    WEFT_FEATURES_NORM_CHI =
        0, /**< independent χ_d (χ_n for FastFood), as for normal rows: unbiased */
    WEFT_FEATURES_NORM_SQRT =
        1 /**< √d (√n for FastFood): a bias that vanishes as d grows, less variance */
} weft_features_norm;

/** Source of the points of QMC and MM. */
typedef enum weft_features_sequence {
    /**
     * Sobol'. Direction numbers are derived, not Joe and Kuo's table: primitive polynomials by degree and value, initial
     * numbers from Philox under a fixed key such that Property A holds in the first 32 dimensions.
     */
    WEFT_FEATURES_SOBOL = 0,
    WEFT_FEATURES_HALTON = 1, /**< radical inverses in the first `columns` primes */
    WEFT_FEATURES_NORMAL = 2  /**< MM only: independent normal draws */
} weft_features_sequence;

/** Fields that a kind does not use must be 0. */
typedef struct weft_features_params {
    weft_features_kind kind;
    uint32_t rows;    /**< s, 1 to WEFT_FEATURES_MAX_ROWS; rows · columns at most 2^31 */
    uint32_t columns; /**< d, 1 to WEFT_FEATURES_MAX_COLUMNS */
    /** Number of an independent matrix under the seed, for a layer, a head or a redraw. */
    uint32_t matrix;
    uint64_t seed;
    weft_features_norm norm; /**< ORF, FASTFOOD, SIMRF, SIMRF_DEPENDENT */
    uint32_t factors; /**< ROM, S_HYBRID: 1 (S_HYBRID: 2) to WEFT_FEATURES_MAX_FACTORS; 0 means 3 */
    /** P_MODEL: max(rows, columns) to rows + columns - 1; 0 means the latter. */
    uint32_t budget;
    weft_features_sequence sequence; /**< QMC, MM */
    uint32_t sweeps; /**< SIMRF_DEPENDENT: 1 to WEFT_FEATURES_MAX_SWEEPS; 0 means 1: (27) once */
    /** POISSON: λ, 2^-10 to 64; GEOMETRIC: p, 1/16 to 15/16. 0 means 1 and 1/2. */
    float rate;
    bool shift; /**< QMC, MM of a sequence: a random digital shift (digits added without carry) */
} weft_features_params;

#ifndef __cplusplus
#define weft_features_params(...) (&(weft_features_params){__VA_ARGS__})
#endif

/** A lower-case name such as "simrf_dependent"; never null. */
WEFT_API const char *weft_features_name(weft_features_kind kind);

/** The fast transform that applies a structured matrix. */
typedef enum weft_features_transform {
    WEFT_FEATURES_DENSE = 0,   /**< none: multiply by W */
    WEFT_FEATURES_HADAMARD,    /**< Walsh-Hadamard transforms of `size`, a power of two */
    WEFT_FEATURES_CIRCULANT,   /**< cyclic convolutions of `size` */
    WEFT_FEATURES_CORRELATION, /**< a cyclic correlation of `size` */
} weft_features_transform;

/**
 * Factors of a structured matrix: `blocks` blocks (the last may be truncated), each with `diagonals` vectors of `size`
 * floats and, for FastFood, a permutation of `size` numbers. x is padded with zeros to `size`; block b gives y, the
 * entries for its rows. H is unnormalised here (±1), f_k is diagonal k of the block, ⊙ is elementwise:
 *
 *   SORF, ROM     y = scale · H f_t ⊙ … H f_1 ⊙ H f_0 ⊙ x, t = factors - 1: f_0 is applied first
 *   S_HYBRID      z = H f_(t-1) ⊙ … H f_0 ⊙ x, t = factors - 1; row 2r of W x is scale · (H (f_t ⊙ z))_r and row 2r+1
 *                 scale · (H (f_(t+1) ⊙ z))_r: f_t and f_(t+1) are cosines and sines of U. A block has 2 size rows
 *   FASTFOOD      u = H f_0 ⊙ x; v_i = u[permutation[i]]; y = scale · f_2 ⊙ H (f_1 ⊙ v): B, G and S are f_0, f_1 and f_2
 *   SCRF          y_i = f_1[i] · Σ_j f_0[(i - j) mod size] x_j: c and σ are f_0 and f_1
 *   P_MODEL       y_i = Σ_j f_0[(i + j) mod size] x_j, i < rows; size is the budget, and there is one block
 */
typedef struct weft_features_structure {
    weft_features_transform transform;
    uint32_t size;
    uint32_t blocks;
    uint32_t rows_per_block;
    uint32_t diagonals; /**< per block; 0 for a dense kind, like all fields above */
    bool permuted;
    float scale;
} weft_features_structure;

/**
 * W [rows, columns] into w, row-major, and the weights [rows]. weights may be null if they are all 1/rows, as for all
 * kinds but SGQ, SSR, POISSON and GEOMETRIC. params and w must not be null; host may be.
 * Errors: WEFT_INVALID_ARGUMENT, naming the parameter, its value and its range; WEFT_OUT_OF_HOST_MEMORY. w and
 * weights are not written on an invalid argument. Two failures come later: MM with points that are too similar, and
 * POISSON and GEOMETRIC with a weight above e^87, such as with λ columns > 87. (A weight below e^-87 is 0.)
 */
WEFT_API weft_status weft_features_fill(float *w, float *weights,
                                        const weft_features_params *params, const weft_host *host);

/** Number and size of the diagonals, for the functions below. Errors: as weft_features_fill. */
WEFT_API weft_status weft_features_get_structure(weft_features_structure *structure,
                                                 const weft_features_params *params,
                                                 const weft_host *host);

/**
 * The factors of a structured matrix: diagonals [blocks, diagonals, size] and, for FastFood, permutation [blocks, size]
 * (null for the others). Dense kinds: WEFT_INVALID_ARGUMENT.
 */
WEFT_API weft_status weft_features_parts(float *diagonals, uint32_t *permutation,
                                         const weft_features_params *params, const weft_host *host);

/**
 * The dense matrix of given factors, such as FastFood-L's learned diagonals. For the factors of weft_features_parts it
 * equals the matrix of weft_features_fill, bit for bit.
 * Errors: as above, and for an entry of permutation ≥ size.
 */
WEFT_API weft_status weft_features_expand(float *w, const float *diagonals,
                                          const uint32_t *permutation,
                                          const weft_features_params *params,
                                          const weft_host *host);

/**
 * The squared lengths [rows] of the rows of weft_features_expand's matrix, without making the matrix: time O(rows ·
 * size log size), memory O(size). OPRF needs them (weft/mixers/random_features.h).
 * Errors: as weft_features_expand.
 */
WEFT_API weft_status weft_features_square_norms(float *square_norms, const float *diagonals,
                                                const uint32_t *permutation,
                                                const weft_features_params *params,
                                                const weft_host *host);

#ifdef __cplusplus
}
#endif

#endif
