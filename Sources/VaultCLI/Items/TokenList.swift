internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The list of the revoked tokens of an item: an item of its own, which is found by its name.
struct TokenList {
  static let ending = ".revoked"

  /// The item that makes the tokens.
  let owner: String
  var name: String { owner + Self.ending }

  init(of owner: String) { self.owner = owner }

  /// The list of this name; nil if the name is not one of a list.
  init?(named name: String) {
    guard name.utf8.count > Self.ending.utf8.count, name.hasSuffix(Self.ending) else { return nil }
    owner = String(name.dropLast(Self.ending.count))
  }

  /// True if the item and its list exist, as far as the caller may find them.
  func exists(_ session: Session) throws(Failure) -> Bool {
    guard try Self.item(owner, session)?.use == KeyUse.jwt.name else { return false }
    return try isThere(session)
  }

  /// True if the item makes tokens and has no list, as far as the caller may find them.
  func isMissing(_ session: Session) throws(Failure) -> Bool {
    guard try Self.item(owner, session)?.use == KeyUse.jwt.name else { return false }
    return try !isThere(session)
  }

  /// True if the list exists.
  func isThere(_ session: Session) throws(Failure) -> Bool { try Self.item(name, session) != nil }

  /// Says, even without a terminal, that tokens may be valid again because an item's content was replaced, if the item
  /// is a list of revoked tokens.
  static func noteOlder(_ name: String, _ session: Session) {
    guard let list = TokenList(named: name), (try? list.exists(session)) == true else { return }
    Output.note(
      "\(Printable.quoted(list.owner)) again accepts the revoked tokens that this \(Printable.quoted(name)) does not "
        + "list; \(Hint.vault("history \(Printable.line(name))")) shows the versions before")
  }

  private static func item(_ name: String, _ session: Session) throws(Failure) -> Wire.Item? {
    guard (try? ItemName(name)) != nil else { return nil }
    do throws(Failure) { return try session.look(at: name) } catch {
      guard error.exit == .missing else { throw error }
      return nil
    }
  }
}
