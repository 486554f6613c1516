internal import VaultClient
internal import VaultModel

/// A grant for a pattern that matches a folder and no item, which is probably a mistake: the grant gives nothing of
/// what is in the folder.
enum GrantedFolder {
  /// The time limit of each search in milliseconds.
  private static let patience = 1000

  /// Returns what to tell whoever has made such a grant; nil for every other grant, and if the caller may not list the
  /// folder.
  ///
  /// - Parameter isCredential: true if the grant makes the item a credential, so that it must be one item.
  static func hint(_ pattern: String, isCredential: Bool, _ session: Session) -> String? {
    guard matches(pattern, session) == false, matches(pattern + "/**", session) == true else { return nil }
    let isName = !pattern.utf8.contains { "*?".utf8.contains($0) }
    let what =
      isName
      ? "there is no item \(Printable.quoted(pattern)), but a folder"
      : "no item matches \(Printable.quoted(pattern)), but a folder does"
    guard !isCredential else { return "\(what), and a credential is one item" }
    return "\(what): \(quoted(other(pattern, session))) names the items in it"
  }

  /// Returns the pattern for the items in the folder, or for those in its folders if it has none of its own.
  private static func other(_ pattern: String, _ session: Session) -> String {
    let items = pattern + "/*"
    if matches(items, session) == true { return items }
    return (pattern.hasSuffix("/*") ? String(pattern.dropLast(2)) : pattern) + "/**"
  }

  /// Returns true if an item that the caller may list has a name of this pattern; nil if the daemon does not tell.
  private static func matches(_ pattern: String, _ session: Session) -> Bool? {
    var vault = session.vault
    vault.patience = .zero
    vault.timeout = .milliseconds(patience)
    return (try? vault.find("name~\(Predicates.quote(pattern))", limit: 1)).map { !$0.isEmpty }
  }

  /// The pattern as a shell takes it.
  private static func quoted(_ pattern: String) -> String {
    let isPlain = !pattern.utf8.contains(UInt8(ascii: "'"))
    return isPlain ? "`'\(Printable.text(pattern))'`" : Printable.quoted(pattern)
  }
}
