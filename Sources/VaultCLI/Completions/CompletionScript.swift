internal import ArgumentParser

/// The completion script of a shell: it passes the words of the command line to ``Completion`` and offers the result.
///
/// The argument parser's own scripts are not used. In bash, they pass the offers to `compgen -W`, which expands them,
/// so that an item named `a/$(command)` would run the command. In zsh, they pass the offers to `_describe`, which cuts
/// them at a colon. They know no aliases of commands, and in fish they test some two hundred conditions for each word.
/// The scripts here read the offers line by line and insert them quoted; no part of an offer is expanded or evaluated.
enum CompletionScript {
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash
    case zsh
    case fish
  }

  static func text(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// readline replaces `cur`. That text may begin within the shell's word, after a quote or a colon. So the script
  /// reads all words anew from the line, and removes their quoting.
  private static let bash = #"""
    # bash completion for vault
    _vault() {
        local -r line="${COMP_LINE:0:COMP_POINT}" cur="${2}"
        local -ir begin="$((${#line} - ${#cur}))"
        local word='' head='' quote='' character offer mark=''
        local -a words=()
        local -i index is_begun=0
        for ((index = 0; index <= ${#line}; index++)); do
            if [[ "${index}" -eq "${begin}" ]]; then head="${word}"; fi
            character="${line:index:1}"
            if [[ "${character}" = '\' && "${quote}" != "'" ]]; then
                index+=1
                character="${line:index:1}"
                if [[ -n "${quote}" && "${character}" != [\$\`\"\\] ]]; then word+='\'; fi
                word+="${character}"
            elif [[ -n "${quote}" && "${character}" = "${quote}" ]]; then
                quote=''
            elif [[ -z "${quote}" && "${character}" = [\'\"] ]]; then
                quote="${character}"
            elif [[ -z "${quote}" && "${character}" = [[:space:]] ]]; then
                if [[ "${is_begun}" -eq 1 ]]; then words+=("${word}"); fi
                word=''
                head=''
                is_begun=0
                continue
            else
                word+="${character}"
            fi
            is_begun=1
        done
        COMPREPLY=()
        while IFS='' read -r offer; do
            if [[ "${offer}" = ':files' ]]; then
                compopt -o default -o filenames 2>/dev/null
                return
            fi
            mark="${offer:0:1}"
            offer="${offer:1}"
            offer="${offer%%$'\t'*}"
            __vault_quote "${offer:${#head}}" "${quote}"
            COMPREPLY+=("${REPLY}")
        done < <("${1}" __complete -- "${word}" "${words[@]:1}" 2>/dev/null)
        if [[ "${#COMPREPLY[@]}" -eq 1 && "${mark}" = '+' ]]; then compopt -o nospace 2>/dev/null; fi
    }

    # Sets REPLY to what stands for the text $1 behind the open quotation mark $2, if there is one.
    __vault_quote() {
        local -r text="${1}" quote="${2}"
        local character
        local -i index
        REPLY=''
        for ((index = 0; index < ${#text}; index++)); do
            character="${text:index:1}"
            case "${quote}${character}" in
            "''") REPLY+="'\\''" ;;
            '"!') REPLY+="\"'!'\"" ;;
            '"'[\$\`\"\\]) REPLY+="\\${character}" ;;
            [\'\"]?) REPLY+="${character}" ;;
            [[:alnum:]_./@%+,-]) REPLY+="${character}" ;;
            *) REPLY+="\\${character}" ;;
            esac
        done
        # readline closes the quotation unless its mark stands at the end, so there it has to be closed already.
        case "${quote}${text: -1}" in
        "''") REPLY="${REPLY%"'"}" ;;
        '""' | '"!') REPLY+='"' ;;
        esac
    }

    complete -F _vault vault
    """#

  /// `compadd` quotes the text that it inserts, and the history's `!` as well if the shell would act on it.
  ///
  /// The function runs with the options that the completion system has set (`_comp_options`). It must not change them
  /// with `emulate`, because `_files` works only with these options.
  private static let zsh = #"""
    #compdef vault
    _vault() {
        local line text
        local -a offers whole shown begun
        offers=("${(@f)"$(
            "${(Q)words[1]}" __complete -- "${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null
        )"}")
        for line in "${(@)offers:#}"; do
            text="${line[2,-1]}"
            case "${line[1]}" in
            :)
                compset -P '--*='
                _files
                return
                ;;
            +) begun+=("${text%%$'\t'*}") ;;
            *)
                whole+=("${text%%$'\t'*}")
                shown+=("${text/$'\t'/  -- }")
                ;;
            esac
        done
        local -i ret=1
        if (( ${#whole} )); then
            if [[ "${(j::)offers}" == *$'\t'* ]]; then
                compadd -l -d shown -- "${(@)whole}" && ret=0
            else
                compadd -- "${(@)whole}" && ret=0
            fi
        fi
        if (( ${#begun} )); then compadd -S '' -- "${(@)begun}" && ret=0; fi
        return ret
    }

    if [[ "${funcstack[1]}" = _vault ]]; then
        _vault "${@}"
    else
        compdef _vault vault
    fi
    """#

  /// fish expands nothing in a command's output, and quotes the text that it inserts.
  private static let fish = #"""
    # fish completion for vault
    function __vault_offers
        set -l words
        if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
            set words (commandline --tokens-raw -pc | string unescape)
        else
            set words (commandline -opc)
        end
        set -l token (commandline -ct)
        set -l word (string unescape -- "$token"; or string unescape -- "$token'"; or string unescape -- "$token\"")
        for offer in (command $words[1] __complete -- "$word" $words[2..] 2>/dev/null)
            if test "$offer" = :files
                set -l head (string match -r '^--[^=]*=' -- "$word")
                set -l paths (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word"))
                test -n "$paths"; and printf '%s\n' "$head"$paths
            else
                string sub -s 2 -- "$offer"
            end
        end
    end

    complete -c vault -f -k -a '(__vault_offers)'
    """#
}
