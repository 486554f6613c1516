internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The effect on the rights from grants when many items are renamed, copied or deleted.
struct FolderAccess {
  /// The old name and the new name of an item; nil if there is none.
  typealias Change = (from: String?, to: String?)

  /// Returns the gained and lost rights of each subject with the number of items, one line each; empty for a caller
  /// that may not know.
  static func lines(_ changes: [Change], _ session: Session) throws(Failure) -> [String] {
    guard let first = changes.first?.from ?? changes.first?.to else { return [] }
    do throws(Failure) {
      // Only administrators see all grants and decide who else gets an item.
      _ = try session.unlocking { vault in try vault.access(to: first) }
    } catch {
      guard error.exit == .denied else { throw error }
      return []
    }
    let grants = try session.unlocking { vault in try vault.grants() }.grants
    return lines(changes, grants) { subject in
      (try? session.call { vault in try vault.grants(for: subject) })?.grants.map(\.subject)
    }
  }

  /// - Parameter holding: returns the subjects of all grants that hold for a process of the given subject, such as the
  ///   groups of a user; nil if they are not known.
  static func lines(
    _ changes: [Change], _ grants: [Wire.Permission], holding: (String) -> [String]?
  ) -> [String] {
    let rules = grants.filter(\.active).compactMap(Rule.init)
    guard !rules.isEmpty else { return [] }
    var counts: [Count: Int] = [:]
    var wider: [String: Set<String>] = [:]
    /// True if a grant of another subject gives the right on that name, too.
    func isKept(_ right: HeldRight, _ name: String?) -> Bool {
      guard let name = name.flatMap({ try? ItemName($0) }) else { return false }
      let subjects = wider[right.subject] ?? Set(holding(right.subject) ?? [])
      wider[right.subject] = subjects
      return rules.contains { rule in
        subjects.contains(rule.subject) && rule.rights.contains(right.name) && rule.pattern.matches(name)
      }
    }
    for change in changes {
      let (before, after) = (rights(change.from, rules), rights(change.to, rules))
      for gained in after.subtracting(before) where !isKept(gained, change.from) {
        counts[Count(gained, isGain: true), default: 0] += 1
      }
      for lost in before.subtracting(after) where !isKept(lost, change.to) {
        counts[Count(lost, isGain: false), default: 0] += 1
      }
    }
    return counts.sorted { $0.key < $1.key }.map { count, number in
      "\(Printable.whole(count.right.subject)) \(count.isGain ? "gains" : "loses") "
        + "\(Printable.text(count.right.name)) on "
        + Folder.count(number)
    }
  }

  /// A grant with its parsed pattern, to match many names.
  private struct Rule {
    let subject: String
    let pattern: ItemPattern
    let rights: [String]

    init?(_ grant: Wire.Permission) {
      guard let pattern = try? ItemPattern(grant.items) else { return nil }
      (subject, self.pattern, rights) = (grant.subject, pattern, grant.rights)
    }
  }

  private struct HeldRight: Hashable {
    let subject: String
    let name: String
  }

  private struct Count: Hashable, Comparable {
    let right: HeldRight
    let isGain: Bool

    init(_ right: HeldRight, isGain: Bool) { (self.right, self.isGain) = (right, isGain) }

    static func < (left: Count, right: Count) -> Bool {
      (left.right.subject, left.isGain ? 0 : 1, left.right.name)
        < (right.right.subject, right.isGain ? 0 : 1, right.right.name)
    }
  }

  private static func rights(_ name: String?, _ rules: [Rule]) -> Set<HeldRight> {
    guard let name, let name = try? ItemName(name) else { return [] }
    var held: Set<HeldRight> = []
    for rule in rules where rule.pattern.matches(name) {
      for right in rule.rights { held.insert(HeldRight(subject: rule.subject, name: right)) }
    }
    return held
  }
}
