/* SPDX-License-Identifier: MIT */
/*
 * LLVM 15's LLVMRunPasses for the static command. LLVM's own knows every pass of LLVM by name, so that all of them are linked: 10 MB. This
 * one knows those that Weft names (runtime/native/llvm/version.c), with the analyses that they ask for, and refuses other names.
 */
#include <llvm-c/Transforms/PassBuilder.h>

#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PhiValues.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <utility>

using namespace llvm;

namespace {

/* ---- passes by name ---- */

bool add(LoopPassManager &passes, StringRef name) {
    if (name == "loop-rotate") {
        passes.addPass(LoopRotatePass());
    } else if (name == "loop-deletion") {
        passes.addPass(LoopDeletionPass());
    } else if (name == "licm") {
        passes.addPass(LICMPass(LICMOptions()));
    } else if (name == "indvars") {
        passes.addPass(IndVarSimplifyPass());
    } else if (name == "loop-unroll-full") {
        passes.addPass(LoopFullUnrollPass());
    } else {
        return false;
    }
    return true;
}

bool add(FunctionPassManager &passes, StringRef name) {
    if (name == "sroa") {
        passes.addPass(SROAPass());
    } else if (name == "early-cse<memssa>") {
        passes.addPass(EarlyCSEPass(true));
    } else if (name == "simplifycfg") {
        passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
    } else if (name == "instcombine") {
        passes.addPass(InstCombinePass());
    } else if (name == "loop-simplify") {
        passes.addPass(LoopSimplifyPass());
    } else if (name == "gvn") {
        passes.addPass(GVNPass(GVNOptions()));
    } else if (name == "adce") {
        passes.addPass(ADCEPass());
    } else {
        return false;
    }
    return true;
}

/* ---- "name,name,loop(name,name)" ---- */

bool add_loops(FunctionPassManager &passes, StringRef names, bool memory_ssa) {
    LoopPassManager inner;
    while (!names.empty()) {
        const auto [name, rest] = names.split(',');
        if (!add(inner, name)) {
            return false;
        }
        names = rest;
    }
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(inner), memory_ssa));
    return true;
}

/* Takes the first of them away. */
bool add_next(FunctionPassManager &passes, StringRef &names) {
    const bool plain = names.consume_front("loop(");
    if (plain || names.consume_front("loop-mssa(")) {
        const auto [inner, rest] = names.split(')');
        names = rest;
        names.consume_front(",");
        return add_loops(passes, inner, !plain);
    }
    const auto [name, rest] = names.split(',');
    names = rest;
    return add(passes, name);
}

bool add_all(FunctionPassManager &passes, StringRef text) {
    if (!text.consume_front("function(") || !text.consume_back(")")) {
        return false;
    }
    while (!text.empty()) {
        if (!add_next(passes, text)) {
            return false;
        }
    }
    return true;
}

/* ---- what they ask for ---- */

struct Analyses {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    ModuleAnalysisManager modules;
};

AAManager alias_analyses(TargetMachine &machine) {
    AAManager made;
    made.registerFunctionAnalysis<BasicAA>();
    made.registerFunctionAnalysis<ScopedNoAliasAA>();
    made.registerFunctionAnalysis<TypeBasedAA>();
    machine.registerDefaultAliasAnalyses(made);
    return made;
}

void add_analyses(FunctionAnalysisManager &to, TargetMachine &machine) {
    to.registerPass([&] { return alias_analyses(machine); });
    to.registerPass([&] { return machine.getTargetIRAnalysis(); });
    to.registerPass([] { return AssumptionAnalysis(); });
    to.registerPass([] { return BasicAA(); });
    to.registerPass([] { return BlockFrequencyAnalysis(); });
    to.registerPass([] { return BranchProbabilityAnalysis(); });
    to.registerPass([] { return DominatorTreeAnalysis(); });
    to.registerPass([] { return LoopAnalysis(); });
    to.registerPass([] { return MemoryDependenceAnalysis(); });
    to.registerPass([] { return MemorySSAAnalysis(); });
    to.registerPass([] { return OptimizationRemarkEmitterAnalysis(); });
    to.registerPass([] { return PassInstrumentationAnalysis(); });
    to.registerPass([] { return PhiValuesAnalysis(); });
    to.registerPass([] { return PostDominatorTreeAnalysis(); });
    to.registerPass([] { return ScalarEvolutionAnalysis(); });
    to.registerPass([] { return ScopedNoAliasAA(); });
    to.registerPass([] { return TargetLibraryAnalysis(); });
    to.registerPass([] { return TypeBasedAA(); });
}

/* Each finds the others' by proxies. */
void add_analyses(Analyses &to, TargetMachine &machine) {
    add_analyses(to.functions, machine);
    to.functions.registerPass([&] { return LoopAnalysisManagerFunctionProxy(to.loops); });
    to.functions.registerPass([&] { return ModuleAnalysisManagerFunctionProxy(to.modules); });
    to.loops.registerPass([] { return PassInstrumentationAnalysis(); });
    to.loops.registerPass([&] { return FunctionAnalysisManagerLoopProxy(to.functions); });
    to.modules.registerPass([] { return PassInstrumentationAnalysis(); });
    to.modules.registerPass([] { return ProfileSummaryAnalysis(); });
    to.modules.registerPass([&] { return FunctionAnalysisManagerModuleProxy(to.functions); });
}

} // namespace

/* ---- in place of LLVM's PassBuilderBindings.cpp ---- */

/* There are none to choose. */
LLVMPassBuilderOptionsRef LLVMCreatePassBuilderOptions(void) {
    return nullptr;
}

void LLVMDisposePassBuilderOptions(LLVMPassBuilderOptionsRef options) {
    (void)options;
}

LLVMErrorRef LLVMRunPasses(LLVMModuleRef module, const char *text, LLVMTargetMachineRef machine,
                           LLVMPassBuilderOptionsRef options) {
    (void)options;
    FunctionPassManager passes;
    if (!add_all(passes, text)) {
        return wrap(
            make_error<StringError>(Twine("the static command does not know all passes of ") + text,
                                    inconvertibleErrorCode()));
    }
    ModulePassManager all;
    Analyses analyses;
    all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
    add_analyses(analyses, *reinterpret_cast<TargetMachine *>(machine));
    all.run(*unwrap(module), analyses.modules);
    return LLVMErrorSuccess;
}
