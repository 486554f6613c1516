internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A grant for a pattern that matches no item, which may be a mistake: a name may be mistyped, a comma joins no
/// patterns, and a pattern that matches a folder gives nothing of what is in the folder.
enum GrantedFolder {
  /// The time limit of each search in milliseconds.
  private static let patience = 1000

  /// Returns a hint on a grant whose pattern matches a folder but no item; nil for every other grant, and if the caller
  /// may not list the folder.
  ///
  /// - Parameter isCredential: true if the grant makes the item a credential, so that it must be one item.
  static func hint(_ pattern: String, isCredential: Bool, _ session: Session) -> String? {
    guard matches(pattern, session) == false else { return nil }
    if let list = listHint(pattern) { return list }
    guard matches(pattern + "/**", session) == true else { return nil }
    let isName = !pattern.utf8.contains { "*?".utf8.contains($0) }
    let what =
      isName
      ? "there is no item \(Printable.quoted(pattern)), but a folder"
      : "no item matches \(Printable.quoted(pattern)), but a folder does"
    guard !isCredential else { return "\(what), and a credential is one item" }
    return "\(what): \(quoted(other(pattern, session))) names the items in it"
  }

  /// Returns a hint on a pattern that looks like several with commas between them, as rights and the parts of a subject
  /// are written; nil for another one, and for one with braces, whose commas are meant otherwise.
  static func listHint(_ pattern: String) -> String? {
    guard !pattern.utf8.contains(where: { "{}".utf8.contains($0) }) else { return nil }
    let parts = pattern.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1, parts.allSatisfy({ (try? ItemPattern($0)) != nil }) else { return nil }
    let apart = parts.map { quoted($0) }.joined(separator: " and ")
    return "no item matches \(quoted(pattern)), because a comma is part of a name; give \(apart) apart"
  }

  /// Returns a note on a grant whose pattern matches no item now; nil for every other grant, and if the daemon does not
  /// know all names.
  static func absence(_ pattern: String, _ session: Session) -> String? {
    guard matches(pattern, session) == false, let status = try? session.call({ vault in try vault.status() }),
      status.state == "unlocked", status.namesHidden != true
    else { return nil }
    guard !pattern.utf8.contains(where: { "*?".utf8.contains($0) }) else {
      return "no item matches \(Printable.quoted(pattern)) now" + literal(pattern)
    }
    let near = MissingItem(name: pattern, location: session.vault.location).nearest(isStrict: true)
    return "there is no item \(Printable.quoted(pattern)) now"
      + (Suggestion.text(near, insteadOf: pattern).map { "; \($0)" } ?? literal(pattern))
  }

  /// A reminder for a pattern with characters that other programs treat like stars; empty for every other pattern.
  private static func literal(_ pattern: String) -> String {
    pattern.utf8.contains { "[]{},".utf8.contains($0) }
      ? "; brackets, braces and commas are part of a name, and only *, ** and ? stand for other characters" : ""
  }

  /// Returns the pattern for the folder's own items or, if it has none, for the items in its subfolders.
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
    return isPlain ? "'\(Printable.text(pattern))'" : Printable.quoted(pattern)
  }
}
