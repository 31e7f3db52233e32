/* SPDX-License-Identifier: MIT */
/*
 * Spherical structured features: Lyu, "Spherical structured feature maps for kernel approximation", 2017, with the DFT
 * rows chosen by a subgroup as in Lyu, Yuan and Tsang, "Subgroup-based rank-1 lattice quasi-Monte Carlo", 2020.
 */
#include <math.h>
#include <string.h>

#include "core/math/quantile.h"
#include "core/math/trig.h"
#include "features/family.h"
#include "features/orthogonal.h"

static weft_status check(weft_features_params *params, const weft_host *host) {
    return params->columns % 2 == 0
               ? WEFT_OK
               : weft_features_refuse(host, params, "columns", params->columns,
                                      "even: a row of the DFT gives two coordinates");
}

static bool is_prime(uint64_t n) {
    for (uint64_t factor = 2; factor * factor <= n; factor++) {
        if (n % factor == 0) {
            return false;
        }
    }
    return n > 1;
}

/* The smallest prime ≡ 1 mod d that gives `rows` points; one comes soon (Dirichlet's theorem). */
static uint64_t dft_length(uint32_t d, uint32_t rows) {
    uint64_t length = (uint64_t)d + 1;
    while (2 * length < rows || !is_prime(length)) {
        length += d;
    }
    return length;
}

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) {
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a prime */
            result = result * base % modulus;
        }
        base = base * base % modulus;
    }
    return result;
}

static bool is_primitive_root(uint64_t g, uint64_t prime) {
    uint64_t left = prime - 1;
    for (uint64_t factor = 2; left > 1; factor++) {
        if (factor * factor > left) {
            factor = left;
        }
        if (left % factor == 0) {
            if (power_modulo(g, (prime - 1) / factor, prime) == 1) {
                return false;
            }
            while (left % factor == 0) {
                left /= factor;
            }
        }
    }
    return true;
}

/* An element of order d modulo the prime. */
static uint64_t subgroup_generator(uint32_t d, uint64_t prime) {
    uint64_t g = 2;
    while (!is_primitive_root(g, prime)) {
        g++;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): d is even and not 0 */
    return power_modulo(g, (prime - 1) / d, prime);
}

/* The lattice: points are made of the rows λ_k = ±generatorᵏ, k < half, of a DFT of prime length. */
struct lattice {
    uint32_t half;
    uint64_t prime;
    double *cosines; /* [prime] */
    double *sines;   /* [prime], behind the cosines */
    uint32_t *rows;  /* [half]: λ */
    uint32_t *trial; /* [half] */
};

/* max over p of |Σ_k sin(2π λ_k p / prime)|: the products between points of the two halves. */
static double coherence(const struct lattice *lattice, const uint32_t *rows) {
    double worst = 0.0;
    for (uint64_t p = 1; p < lattice->prime; p++) {
        double sum = 0.0;
        for (uint32_t k = 0; k < lattice->half; k++) {
            sum += lattice->sines[rows[k] * p % lattice->prime];
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

/*
 * Which of λ and -λ is taken does not matter to products within a half, Gaussian periods of the subgroup, but does to
 * those between the halves: of 32 choices, the first with all + and the others from Philox under a key of their own, the
 * one with the smallest coherence.
 */
static void choose_signs(struct lattice *lattice) {
    const uint64_t key = UINT64_C(0x737366); /* "ssf" */
    double best = coherence(lattice, lattice->rows);
    for (uint32_t attempt = 1; attempt < 32; attempt++) {
        const struct weft_stream signs = {.seed = key, .stream = attempt};
        for (uint32_t k = 0; k < lattice->half; k++) {
            bool flip = weft_sample_sign(signs, k) < 0.0;
            lattice->trial[k] =
                flip ? (uint32_t)lattice->prime - lattice->rows[k] : lattice->rows[k];
        }
        double found = coherence(lattice, lattice->trial);
        if (found < best) {
            best = found;
            memcpy(lattice->rows, lattice->trial, lattice->half * sizeof *lattice->rows);
        }
    }
}

static weft_status begin_lattice(struct lattice *lattice, const weft_features_params *params,
                                 const weft_host *host) {
    const uint32_t d = params->columns;
    *lattice = (struct lattice){.half = d / 2, .prime = dft_length(d, params->rows)};
    lattice->cosines = weft_alloc_zero(host, lattice->prime, 2 * sizeof *lattice->cosines);
    lattice->rows = weft_alloc_zero(host, d, sizeof *lattice->rows);
    if (!lattice->cosines || !lattice->rows) {
        return weft_fail_memory(host, "a spherical lattice");
    }
    lattice->sines = lattice->cosines + lattice->prime;
    lattice->trial = lattice->rows + lattice->half;
    for (uint64_t i = 0; i < lattice->prime; i++) {
        weft_unit_root(&lattice->cosines[i], &lattice->sines[i], i, lattice->prime);
    }
    const uint64_t generator = subgroup_generator(d, lattice->prime);
    uint64_t row = 1;
    for (uint32_t k = 0; k < lattice->half; k++) {
        lattice->rows[k] = (uint32_t)row;
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a prime */
        row = row * generator % lattice->prime;
    }
    choose_signs(lattice);
    return WEFT_OK;
}

/*
 * Point 2j is column j of the left half, [Re F; Im F], point 2j + 1 that of the right, [-Im F; Re F]; times √half. The
 * sign of the DFT's exponent does not matter here.
 */
static void spherical_point(double *out, uint32_t index, const struct lattice *lattice) {
    for (uint32_t k = 0; k < lattice->half; k++) {
        const uint64_t angle = (uint64_t)lattice->rows[k] * (index / 2) % lattice->prime;
        const double cosine = lattice->cosines[angle];
        const double sine = lattice->sines[angle];
        out[k] = index % 2 == 0 ? cosine : -sine;
        out[lattice->half + k] = index % 2 == 0 ? sine : cosine;
    }
}

struct scratch {
    double *rotation; /* [d, d] */
    double *point;    /* [d] */
    double *row;      /* [d] */
    uint32_t *order;  /* [rows] */
};

static void fill_rows(float *w, const struct scratch *scratch, const struct lattice *lattice,
                      const weft_features_params *params) {
    const uint32_t d = params->columns;
    const struct weft_chi chi = weft_chi_of(d);
    const double offset = weft_sample_unit(weft_features_stream(params, WEFT_DRAW_SHIFT), 0);
    for (uint32_t i = 0; i < params->rows; i++) {
        spherical_point(scratch->point, i, lattice);
        for (uint32_t j = 0; j < d; j++) {
            scratch->row[j] = 0.0;
        }
        for (uint32_t k = 0; k < d; k++) {
            for (uint32_t j = 0; j < d; j++) {
                scratch->row[j] += scratch->point[k] * scratch->rotation[(size_t)k * d + j];
            }
        }
        double part = ((double)scratch->order[i] + offset) / (double)params->rows;
        double factor = weft_chi_quantile(&chi, part) / sqrt(0.5 * (double)d);
        weft_features_store(w + (size_t)i * d, scratch->row, factor, d);
    }
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    struct lattice lattice;
    struct scratch scratch = {
        .rotation = weft_alloc_zero(host, (size_t)d + 2, d * sizeof(double)),
        .order = weft_alloc_zero(host, params->rows, sizeof(uint32_t)),
    };
    weft_status status = begin_lattice(&lattice, params, host);
    if (status == WEFT_OK && (!scratch.rotation || !scratch.order)) {
        status = weft_fail_memory(host, "spherical features");
    }
    if (status == WEFT_OK) {
        scratch.point = scratch.rotation + (size_t)d * d;
        scratch.row = scratch.point + d;
        weft_sample_permutation(scratch.order, params->rows,
                                weft_features_stream(params, WEFT_DRAW_PERMUTATION), 0);
        status = weft_haar_rows(scratch.rotation, d, d,
                                weft_features_stream(params, WEFT_DRAW_ROTATION), 0, host);
    }
    if (status == WEFT_OK) {
        fill_rows(out.w, &scratch, &lattice, params);
    }
    weft_free(host, lattice.cosines);
    weft_free(host, lattice.rows);
    weft_free(host, scratch.rotation);
    weft_free(host, scratch.order);
    return status;
}

const struct weft_features_family weft_features_ssf = {.name = "ssf", .check = check, .fill = fill};
