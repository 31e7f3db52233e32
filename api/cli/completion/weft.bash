# SPDX-License-Identifier: MIT
# bash completion for weft. Installed as bash-completion/completions/weft; a test holds it to `weft help`.

# _weft_words WORDS: those that begin like the current word.
_weft_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

# An empty reply means that bash completes file names.
_weft() {
    local command=${COMP_WORDS[1]:-} previous=${COMP_WORDS[COMP_CWORD - 1]} options=""
    local commands="devices run embed rerank eval generate quantize verify bench certify inspect help"
    local device="--device --math --weights --validation --no-cache" output="--json --verbose --help"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _weft_words "$commands --version --help"
        return
    fi
    case $command in
    devices) options="--all --fma $output" ;;
    run) options="--text --pair --file --lines --pairs --jsonl --tsv --tokens --token-types --input --symbol --positions --out --top --trace --repeat --receipt --checkpoints $device $output" ;;
    embed) options="--text --file --lines --out --resume --prompt --pooling --normalize --batch --receipt --checkpoints $device $output" ;;
    rerank) options="--query --lines --top --pooling --batch --receipt --checkpoints $device $output" ;;
    eval) options="--compare --examples --answers --batch --out --bits --expect --receipt --checkpoints $device $output" ;;
    generate) options="--text --file --lines --tokens --greedy --seed --temperature --top-k --top-p --repetition-penalty --stop --window --out --reevaluate --receipt $device $output" ;;
    quantize) options="--weights-only $output" ;;
    verify) options="--filter --bits --write-bits --cases --list --check-list --write-list --kernels-once --evaluate --evaluate-limit --receipt --against
        $device $output" ;;
    bench) options="--suite --filter --size --lengths --seconds --rounds --time-cap --no-limits --out --csv --html --from --index --compare
        --noise --fail-on-slower --debug-slow-down --write-expected $device $output" ;;
    certify) options="--out --html --seconds --seed --check-submission --device --no-cache $output" ;;
    inspect) options="--length --batch --symbol --pass --choices --pipelines --isa --compile-only --case $device $output" ;;
    help) options=$commands ;;
    esac
    case $previous in
    --math) options="reproducible fused fast" ;;
    --weights) options="auto f32 f16 int8 int8-only" ;;
    --checkpoints) options="none layers nodes" ;;
    --pass) options="graph fuse choose place order choices" ;;
    --pooling) options="mean cls last max" ;;
    --size) options="full short smallest" ;;
    --suite) options="ops mixers papers fnet fmm flt ski spectra models decode device" ;;
    --device) options="all" ;;
    help) ;;
    *) [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || return ;;
    esac
    _weft_words "$options"
}

complete -o bashdefault -o default -F _weft weft
