internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The user whose import runs, with the grants of the vault.
///
/// The attributes by which an import knows its items again prove nothing: every caller with the right `set` gives the
/// items that it makes any attributes. What proves something is the caller that the daemon has recorded as the creator
/// of an item and as the writer of its value. An item is the importer's own only if both are the importer's user, in no
/// unit that has grants of its own: such a unit is held to its grants, whoever it runs as. A program that is held to
/// its grants by its file alone cannot be told from the user's other programs; a grant opens every name under which it
/// can make items, so ``OpenedNames`` tells of those.
struct Importer {
  /// All grants of the vault.
  let grants: [Wire.Permission]
  private let uid: UInt32
  private let units: Set<String>

  /// - Parameter confined: the subjects that are held to their grants, whether they have any or not.
  init(uid: UInt32, _ grants: [Wire.Permission], confined: [String] = []) {
    (self.uid, self.grants) = (uid, grants)
    let subjects = (grants.map(\.subject) + confined).compactMap { try? Subject(parsing: $0) }
    units = Set(subjects.flatMap(\.parts).compactMap { if case .unit(let name) = $0 { name } else { nil } })
  }

  /// Asks for the grants. The daemon tells a caller who may not see them of none; such a caller stores nothing.
  init(_ session: Session) throws(Failure) {
    let found: Vault.Grants?
    do throws(Failure) { found = try session.unlocking { vault in try vault.grants() } } catch {
      guard error.exit == .denied else { throw error }
      found = nil
    }
    self.init(uid: geteuid(), found?.grants ?? [], confined: found?.confined ?? [])
  }

  /// The caller that has made an item or written its value, if that is another one than the importer; nil for an item
  /// of the importer's own.
  func stranger(in item: Wire.Item) -> String? {
    if !isSelf(item.creator) { return Self.text(item.creator) }
    return isSelf(item.writer) ? nil : Self.text(item.writer)
  }

  /// True if the importer has made the item, whoever has written its value since.
  func hasMade(_ item: Wire.Item) -> Bool { isSelf(item.creator) }

  private static func text(_ author: String?) -> String { author ?? "a caller that is not known" }

  /// True if the author of something is the importer's user, in no unit with grants of its own.
  private func isSelf(_ author: String?) -> Bool {
    guard let author, let subject = try? Subject(parsing: author) else { return false }
    var isUser = false
    for part in subject.parts {
      switch part {
      case .user(let id): isUser = id == uid
      case .unit(let name): if units.contains(name) { return false }
      case .group, .executable, .digest: return false
      }
    }
    return isUser
  }
}
