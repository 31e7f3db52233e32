# SPDX-License-Identifier: MIT
#
# Which of the tests that are left when verify and eval have begun start first: those that take longest, so that none is left
# running alone at the end. ctest remembers how long tests took, and where it has never run, as in CI, knows this alone.

# Names, without the driver's, and seconds of processor time with empty caches.
set(weft_costs
    unit.variants 60
    unit.fft_program 27
    cli.bench 27
    cli.bench_verify 26
    cli.bench_schema 24
    unit.faults 20
    unit.toeplitz 19
    model.decoder 18
    model.spectraformer_pairs 18
    unit.decode 17
    cli.run 16
    cli.verify 14
    unit.plan 12
    cli.generate 11
    model.fnet 11
    folded.shaders 10
    cli.eval 10
    cli.eval_tasks 10
    unit.feature_estimates 10
    unit.spirv_lint 10)

get_property(weft_tests DIRECTORY PROPERTY TESTS)
while(weft_costs)
    list(POP_FRONT weft_costs name seconds)
    foreach(test IN LISTS weft_tests)
        string(FIND "${test}." "${name}." at)
        if(at EQUAL 0)
            set_tests_properties("${test}" PROPERTIES COST ${seconds})
        endif()
    endforeach()
endwhile()
