# SPDX-License-Identifier: MIT
# bash completion for weft, which says itself what there is: lines COMMAND|OPTION|ARGUMENT|HELP.
# Installed as bash-completion/completions/weft; `weft help --bash` prints it.

# An empty reply means that bash completes file names.
_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} chosen='' words=''
    local command option argument
    if [[ $word == = ]]; then # bash takes --name=VALUE for three words
        word=''
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    ((COMP_CWORD == 1)) || chosen=${COMP_WORDS[1]}
    while IFS='|' read -r command option argument _; do
        if [[ -z $option ]]; then
            [[ -n $chosen && $chosen != help ]] || words+=" $command"
        elif [[ $command != "$chosen" ]]; then
            continue
        elif [[ $option == "$previous" && -n $argument ]]; then
            [[ $argument == *' '* ]] && words=$argument
            break
        elif [[ $word == -* ]]; then
            words+=" $option"
        fi
    done < <(weft help --options 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o bashdefault -o default -F _weft weft
