#compdef weft
# SPDX-License-Identifier: MIT
# zsh completion for weft, which says itself what there is: lines COMMAND|OPTION|ARGUMENT|HELP.
# Installed as zsh/site-functions/_weft; `weft help --zsh` prints it.

_weft() {
    setopt localoptions extendedglob
    local -a commands options
    local command option argument help action
    while IFS='|' read -r command option argument help; do
        help=${help//(#m)[\]\[:\\]/\\$MATCH}
        if [[ -z $option ]]; then
            commands+=("$command:$help")
        elif [[ $command != $words[2] ]]; then
            continue
        elif [[ -z $argument ]]; then
            options+=("${option}[$help]")
        else
            case $argument in
            FILE) action=_files ;;
            DIR) action='_files -/' ;;
            *' '*) action="($argument)" ;;
            *) action=' ' ;;
            esac
            options+=("*${option}=[$help]:value:$action")
        fi
    done < <(weft help --options 2>/dev/null)
    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
        _describe -t commands command commands
        return
    fi
    shift words
    ((CURRENT--))
    _arguments $options '*:file:_files'
}

_weft "$@"
