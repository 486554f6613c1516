internal import ArgumentParser
internal import VaultAPI
internal import VaultClient

/// What a shell offers while a command is typed.
enum Completions {
  /// Names of items that begin as the word does.
  static let itemNames = CompletionKind.custom { _, _, prefix in Completions.names(prefix) }

  /// Asks the daemon if one runs, and offers nothing rather than anything going wrong.
  private static func names(_ prefix: String) -> [String] {
    guard let session = try? Session(socket: nil, system: false, startsDaemon: false) else { return [] }
    session.vault.interactive = false
    var query: String?
    if !prefix.isEmpty {
      guard !prefix.contains(where: { "*?".contains($0) }) else { return [] }
      query = "name~\(Predicates.quote(prefix + "**"))"
    }
    return (try? session.call { vault in try vault.find(query, limit: 200).map(\.name) }) ?? []
  }
}
