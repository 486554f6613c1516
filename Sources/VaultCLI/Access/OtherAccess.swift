internal import VaultClient
internal import VaultModel
internal import VaultWire

/// All that a subject may do with items besides what one grant gives: by its other grants, those of its groups, wider
/// patterns, and as an administrator.
///
/// This is the one place for the words about it, so that no command says of a subject that it may no longer do what it
/// still may.
struct OtherAccess {
  /// The grants in effect that hold for a process that is the subject, and for some of the items.
  let grants: [Wire.Permission]
  /// True if the subject is an administrator without a grant.
  let isAdministrator: Bool

  /// Looks up what a subject may do now.
  ///
  /// - Parameter items: the name of an item, or a pattern.
  /// - Returns: nil if that cannot be determined.
  init?(of subject: String, on items: String, _ session: Session) {
    guard let pattern = try? ItemPattern(items),
      let found = try? session.call({ vault in try vault.grants(for: subject) }).grants
    else { return nil }
    // The name of some item of the pattern, which tells whether the subject is an administrator.
    let sample = String(items.map { "*?".contains($0) ? "x" : $0 })
    var grants: [Wire.Permission] = []
    var isAdministratorByGrant = false
    for found in found where found.active {
      guard let own = try? ItemPattern(found.items), own.overlaps(pattern) else { continue }
      if found.rights.contains(Right.admin.name) { isAdministratorByGrant = true }
      grants.append(found)
    }
    guard let isAllowed = try? session.call({ vault in try vault.can(subject, Right.admin.name, sample) }) else {
      return nil
    }
    self.grants = grants
    isAdministrator = isAllowed && !isAdministratorByGrant
  }

  /// The rights among `rights` that the subject has.
  func held(_ rights: [String]) -> [String] {
    rights.filter { right in isAdministrator || grants.contains { $0.rights.contains(right) } }
  }

  /// The reason why the subject has some of these rights, as in "by the grant group:ops `db/*`".
  func reason(for rights: [String]) -> String {
    if isAdministrator { return "as an administrator of the vault" }
    let giving = grants.filter { grant in grant.rights.contains { rights.contains($0) } }
    let names = giving.prefix(Self.shown).map { "\(Printable.whole($0.subject)) \(Printable.quoted($0.items))" }
    let rest = giving.count > Self.shown ? " and \(giving.count - Self.shown) more" : ""
    return "by the grant\(giving.count == 1 ? "" : "s") \(names.joined(separator: ", "))\(rest)"
  }

  /// The number of grants that a sentence names.
  private static let shown = 3

  /// A sentence about rights that a subject has lost by one grant.
  ///
  /// - Parameter other: what the subject may still do; nil if that is not known.
  static func lost(_ rights: [String], _ subject: String, _ items: String, as credential: String?, _ other: Self?)
    -> String
  {
    let (who, what) = (Printable.whole(subject), Printable.quoted(items))
    let name = credential.map { " as its credential \(Printable.quoted($0))" } ?? ""
    func list(_ rights: [String]) -> String { rights.map { Printable.text($0) }.joined(separator: ", ") }
    guard let other else { return "the grant of \(list(rights)) on \(what)\(name) to \(who) is revoked" }
    let held = other.held(rights)
    if held.isEmpty { return "\(who) may no longer \(list(rights)) \(what)\(name)" }
    let isExact = (try? ItemPattern(items))?.isExact ?? false
    let reason = other.reason(for: held)
    let items = isExact || other.isAdministrator ? what : "items of \(what)"
    let gone = rights.filter { !held.contains($0) }
    return gone.isEmpty
      ? "the grant is revoked, but \(who) may still \(list(held)) \(items), \(reason)"
      : "\(who) may no longer \(list(gone)) \(what)\(name), but may still \(list(held)) \(items), \(reason)"
  }

  /// A sentence about a request that was denied, or an approval that was taken back.
  static func denied(_ subject: String, _ name: String, _ other: Self?) -> String {
    let (who, what) = (Printable.whole(subject), Printable.wholeQuoted(name))
    guard let other else { return "what \(who) asked for \(what) is denied" }
    let held = other.held(Right.allCases.map(\.name))
    guard !held.isEmpty else { return "\(who) may not have \(what)" }
    return "that is denied, but \(who) may still \(held.joined(separator: ", ")) \(what), \(other.reason(for: held))"
  }

  /// The end of a sentence about a new grant: the rights that the subject has beyond it; empty if there are none.
  func beyond(_ rights: [String]) -> String {
    let more = held(Right.allCases.map(\.name).filter { !rights.contains($0) })
    guard !more.isEmpty else { return "" }
    return "; it also has the right\(more.count == 1 ? "" : "s") \(more.joined(separator: ", ")), \(reason(for: more))"
  }

  /// All that the subject may do with an item that was denied to it; nil for nothing.
  var whole: String? {
    let held = held(Right.allCases.map(\.name))
    return held.isEmpty ? nil : "but may \(held.joined(separator: ", ")) it \(reason(for: held))"
  }

  /// The rights that grants give a process that is the subject on the item of one name; nil if that is not known.
  static func rights(of subject: String, on name: String, _ session: Session) -> [String]? {
    let found = try? session.call { vault in try vault.grants(for: subject, on: name) }.grants
    return found.map { found in
      Right.allCases.map(\.name).filter { right in found.contains { $0.active && $0.rights.contains(right) } }
    }
  }
}
