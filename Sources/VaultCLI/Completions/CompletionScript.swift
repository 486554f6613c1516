internal import ArgumentParser

/// The completion script of a shell: the argument parser's, in which the names of items are data.
///
/// The parser's own fragments hand the words of a completion to `compgen -W` in bash and to `_describe` in zsh. The former
/// expands them, so that an item named `a/$(command)` would run the command; the latter cuts them at a colon. The functions
/// here read one name a line, compare it quoted, and insert it quoted; nothing of a name is expanded or evaluated.
enum CompletionScript {
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash
    case zsh
    case fish
  }

  static func text(for shell: Shell) throws(Failure) -> String {
    switch shell {
    case .bash:
      try VaultCommand.completionScript(for: .bash)
        .replacing(#"__vault_add_completions -W "$(eval '\#(ItemNames.function)')""#, with: ItemNames.function)
        .replacing("\n_vault() {\n", with: "\n" + bash + "\n_vault() {\n")
    case .zsh:
      try VaultCommand.completionScript(for: .zsh)
        .replacing(
          #"{local -a list;list=(${(f)"$(\#(ItemNames.function))"});_describe -V "" list}"#,
          with: "{\(ItemNames.function)}"
        )
        .replacing("\n_vault() {\n", with: "\n" + zsh + "\n_vault() {\n")
    case .fish:
      // `vault get` has a --version of its own, and fish takes no flag twice.
      try VaultCommand.completionScript(for: .fish)
        .replacing(
          "'version=' 'wait=' 'clip' 'qr' 'expired' 'force' 'json' 'socket=' 'system' 'version'", with: getOptions
        )
        .replacing(
          """
          complete -c 'vault' -n '__vault_should_offer_completions_for_flags_or_options "vault get" version' -l 'version' \
          -d 'Show the version.'

          """, with: ""
        )
        .replacing("\ncomplete -c 'vault' -f\n", with: "\n" + fish + "\ncomplete -c 'vault' -f\n")
    }
  }

  private static let getOptions = "'version=' 'wait=' 'clip' 'qr' 'expired' 'force' 'json' 'socket=' 'system'"

  /// `cur` is what readline replaces. It may begin within the shell's word, behind a quote or a colon, so the word is read
  /// anew from the line, with its quoting taken away.
  private static let bash = #"""
    __vault_item_names() {
        local -r line="${COMP_LINE:0:COMP_POINT}"
        local -ir begin="$((${#line} - ${#cur}))"
        local word='' head='' quote='' character name
        local -i index
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
                word=''
                head=''
            else
                word+="${character}"
            fi
        done
        # The names are quoted below, which readline would do once more to what it takes for files.
        compopt +o filenames 2>/dev/null
        while IFS='' read -r name; do
            if [[ "${name}" = "${word}"* && "${name}" = "${head}"* ]]; then
                __vault_quote "${name:${#head}}" "${quote}"
                COMPREPLY+=("${REPLY}")
            fi
        done < <("${COMP_WORDS[0]}" __item-names -- "${word}" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
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

    """#

  /// `compadd` quotes what it inserts, the history's `!` only where that option is on, which the parser's script turns off.
  private static let zsh = #"""
    __vault_item_names() {
        setopt localoptions banghist
        local -a names
        names=("${(@f)"$(
            "${command_name}" __item-names -- "${(Q)PREFIX}" "${(@)command_line[2,current_word_index]}" 2>/dev/null
        )"}")
        names=("${(@)names:#}")
        (( ${#names} )) && compadd -- "${(@)names}"
    }

    """#

  /// fish expands nothing in what a command prints, and quotes what it inserts.
  private static let fish = #"""
    function __vault_item_names
        set -l tokens (__vault_tokens -pc)
        set -l prefix (commandline -ct | string unescape)
        command $tokens[1] __item-names -- "$prefix" $tokens[2..] 2>/dev/null
    end

    """#
}

extension String {
  /// The text with each `part` replaced. A part that is not there means that the argument parser writes other scripts now.
  fileprivate func replacing(_ part: String, with other: String) throws(Failure) -> String {
    let pieces = split(separator: part, omittingEmptySubsequences: false)
    guard pieces.count > 1 else { throw Failure(.software, "the completion script cannot be made", "report this") }
    return pieces.joined(separator: other)
  }
}
