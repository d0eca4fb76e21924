# shellcheck shell=bash disable=SC2207 # a list of words without spaces is split on purpose
# emu.bash — completion of the command emu in bash. Options, models and metrics are those of
# emu --help.

# The names in the list of emu --help that begins with head $2.
_emu_list() {
    "$1" --help 2>/dev/null |
        awk -v head="$2" '$1 == head { on = 1; next } on && /^$/ { exit }
            on && sub(/^[* ] /, "") && !/^ / { print $1 }'
}

# The words that option $2 takes, as emu --help lists them; "file" where it takes a file.
_emu_values() {
    case $2 in
    --gpu) _emu_list "$1" Models: ;;
    --model) _emu_list "$1" Rules ;;
    --metrics) _emu_list "$1" Metrics ;;
    --tool) echo memcheck racecheck initcheck synccheck all ;;
    --blocks) echo ascending descending ;;
    *)
        "$1" --help 2>/dev/null | awk -v option="$2" '{
            for (i = 1; i < NF && i < 3; i++) if ($i == option) {
                if ($(i + 1) ~ /^(FILE|CSV)/) print "file"
                else if ($(i + 1) ~ /^[a-z]+\|[a-z]+$/) print $(i + 1)
            } }' | tr '|' ' '
        ;;
    esac
}

# Does option $2 take a value?
_emu_takes_value() {
    "$1" --help 2>/dev/null | grep -Eq -- "^  (-., )?$2 [^ ]|^  $2, --[a-z-]+ [^ ]"
}

# Completes what belongs to emu. Words behind the program are completed as its own would be.
_emu() {
    local emu=$1 word=${COMP_WORDS[COMP_CWORD]} before='' at values prefix=''
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ ${COMP_WORDS[at]} != -* ]]; then
            [[ ${COMP_WORDS[at]} == run && $at -eq $((COMP_CWORD - 1)) ]] &&
                COMPREPLY=($(compgen -f -X '!*.cu' -- "$word") $(compgen -d -S / -- "$word"))
            return
        fi
        if _emu_takes_value "$emu" "${COMP_WORDS[at]}"; then
            before=${COMP_WORDS[at++]}
        fi
    done
    if [[ $at -gt $COMP_CWORD ]]; then
        values=$(_emu_values "$emu" "$before")
        if [[ $values == file ]]; then
            COMPREPLY=($(compgen -f -- "$word"))
            return
        fi
        case $before in --tool | --metrics) [[ $word == *,* ]] && prefix=${word%,*}, ;; esac
        COMPREPLY=($(compgen -P "$prefix" -W "$values" -- "${word##*,}"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$("$emu" --help 2>/dev/null |
            sed -En 's/^  (-., )?(--[a-z-]+).*/\2/p')" -- "$word"))
    else
        COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word")
            $(compgen -W "run debug dap" -- "$word"))
    fi
}

complete -o filenames -o default -F _emu emu
