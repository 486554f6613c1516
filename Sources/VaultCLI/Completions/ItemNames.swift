internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The names of items that a shell offers while a command is typed.
enum ItemNames {
  /// The call that the argument parser's generators write where a name is completed. ``CompletionScript`` defines the function.
  static let completion = CompletionKind.shellCommand(function)
  static let function = "__vault_item_names"

  /// The hidden command by which the scripts ask: `__item-names -- PREFIX WORD...` prints one name a line. The words are
  /// those of the command line before the one that is completed.
  static let command = "__item-names"
  private static let most = 200

  /// Prints the names that begin with what stands behind `--`.
  static func print(_ arguments: ArraySlice<String>) throws(Failure) {
    let arguments = Array(arguments)
    guard arguments.count >= 2, arguments[0] == "--" else {
      throw Failure(.usage, "\(command) is for the completion scripts", "use `vault list`")
    }
    let words = arguments[2...]
    for name in names(arguments[1], where: { isName($0, behind: words) }) { try Output.line(name) }
  }

  /// True when the command would take `name` for a name behind these words. One that begins with a dash would be an
  /// option, and to `vault rm` one may be a predicate, unless two dashes say that names follow.
  static func isName(_ name: String, behind words: ArraySlice<String>) -> Bool {
    if words.contains("--") { return true }
    return !name.utf8.starts(with: "-".utf8) && !(words.contains("rm") && Predicates.isPredicate(name))
  }

  /// Asks the daemon if one runs, and offers nothing rather than anything going wrong.
  ///
  /// A name with anything in it that a terminal would not show as it is is left out: nobody could tell what they complete.
  private static func names(_ prefix: String, where isOffered: (String) -> Bool) -> [String] {
    guard let session = try? Session(socket: nil, system: false, startsDaemon: false) else { return [] }
    session.vault.interactive = false
    session.vault.timeout = .seconds(2)
    // The rest of it would be a pattern.
    let plain = prefix.prefix { $0 != "*" && $0 != "?" }
    let query = plain.isEmpty ? nil : "name~\(Predicates.quote(plain + "**"))"
    var names: [String] = []
    try? session.call { vault in
      try vault.find(query) { page in
        names += page.lazy.map(\.name).filter {
          $0.utf8.starts(with: prefix.utf8) && Printable.isPlain($0) && isOffered($0)
        }
        return names.count < most
      }
    }
    return Array(names.prefix(most))
  }
}
