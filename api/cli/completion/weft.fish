# SPDX-License-Identifier: MIT
# fish completion for weft, which says itself what there is: lines COMMAND|OPTION|ARGUMENT|HELP.
# Installed as fish/vendor_completions.d/weft.fish; `weft help --fish` prints it.

complete -c weft -n __fish_use_subcommand -f
weft help --options 2>/dev/null | while read -d '|' -l command option argument help
    set -l when __fish_use_subcommand
    test -n "$command"; and set when "__fish_seen_subcommand_from $command"
    if test -z "$option"
        complete -c weft -n __fish_use_subcommand -a $command -d $help
        complete -c weft -n '__fish_seen_subcommand_from help' -fa $command -d $help
    else if test -z "$argument"
        complete -c weft -n $when -l (string sub -s 3 -- $option) -d $help
    else if contains -- "$argument" FILE DIR
        complete -c weft -n $when -l (string sub -s 3 -- $option) -rF -d $help
    else if string match -q '* *' -- $argument
        complete -c weft -n $when -l (string sub -s 3 -- $option) -xa $argument -d $help
    else
        complete -c weft -n $when -l (string sub -s 3 -- $option) -x -d $help
    end
end
