/* SPDX-License-Identifier: MIT */
/* The suites of `weft bench`, one file each. */
#ifndef WEFT_BENCH_SUITES_H
#define WEFT_BENCH_SUITES_H

#include "bench/case.h"

void weft_bench_add_ops(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_mixers(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_fnet(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_fmm(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_flt(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_ski(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_spectra(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_models(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_decode(weft_bench_list *list, const weft_bench_scope *scope);
void weft_bench_add_device(weft_bench_list *list, const weft_bench_scope *scope);

#endif
