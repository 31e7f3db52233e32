# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # read by ./dev, which has the names that are not set here
#
# ./dev demo: the example models side by side.

# demo_heading TEXT...
demo_heading() {
    local strong='' plain=''
    if [[ -t 1 ]]; then
        strong=$'\e[1m' plain=$'\e[0m'
    fi
    printf '\n%s%s%s\n\n' "$strong" "$*" "$plain"
}

# demo_run COMMAND ARGUMENT...: prints a command as one types it, and runs it.
demo_run() {
    local word words=()
    for word in "$@"; do
        [[ $word == *' '* ]] && word="'$word'"
        words+=("$word")
    done
    printf '$ %s\n\n' "${words[*]}"
    "$@"
}

# demo_task TASK EXAMPLES [OPTION...]: all models of a task on so many examples of its test set, in
# two batches, of which the second is timed.
demo_task() {
    local task=$1 examples=$2 models=(api/examples/models/"$1"-*)
    shift 2
    [[ -d ${models[0]} ]] || die "api/examples/models holds no model called $task-..."
    local command=(build/weft eval --compare --examples "$examples" --batch $((examples / 2)) "$@")
    local data=api/examples/data/$task.npz
    printf '$ %s api/examples/models/%s-* %s\n\n' "${command[*]}" "$task" "$data"
    "${command[@]}" "${models[@]}" "$data"
}

# Small parts of the test sets: the whole of it is to take less than a minute on a processor alone.
command_demo() {
    setup_build
    build_command
    demo_heading "The devices that can run them"
    demo_run build/weft devices
    demo_heading "Which of 24 languages is it? One network for each way to mix a sequence"
    demo_task langid1024 8 --answers
    demo_heading "What is on the photograph? 49 patches of 4 by 4 pixels"
    demo_task fashion 10 --answers
    demo_heading "What is the value of the expression? Brackets, up to 500 tokens"
    demo_task listops 4 --answers
    demo_heading "How much energy do 32 charges in space have? Positions are an input of the network"
    demo_task points 40
    demo_heading "Which byte comes next? Bits per byte of English, and then a few lines of it"
    demo_task text 2
    local model prompt='hacker: A person who '
    for model in api/examples/models/text-*; do
        echo
        demo_run build/weft generate "$model" --text "$prompt" --tokens 100 --seed 1
        echo
    done
}
