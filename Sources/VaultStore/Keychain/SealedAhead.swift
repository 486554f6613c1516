import VaultCore
public import VaultModel

/// The versions that a change of an item seals again, sealed before the change, in parts: so that it takes less long
/// itself, and others have their turn between the parts.
///
/// It holds nothing in the clear, and counts for one revision of the item under the keys that it was made with. Where
/// the item was changed meanwhile, or the keys were, the change seals everything itself.
public final class SealedAhead {
  /// The most bytes that are sealed in one part, but for one version that is longer.
  static let part = 1 << 20
  /// The bytes that a change seals by itself.
  static let little = 256 << 10
  /// The most parts that are sealed for one change: twice as many as a change can have, so that it is made one day
  /// however often others change the item.
  static let mostParts = 2 * (Keychain.keptVersions + 1)

  /// The revision that it is for.
  private var revision: (item: ItemInfo, columns: HeadColumns, keys: KeyIdentity)?
  private var versions: [Int: SealedValue] = [:]
  fileprivate var partsLeft = SealedAhead.mostParts

  public init() {}

  /// The number of versions that are sealed.
  var count: Int { versions.count }

  /// True when it is for that revision under those keys.
  func fits(_ next: NextRevision, _ keys: KeyIdentity) -> Bool {
    guard let revision else { return false }
    return revision.keys === keys && revision.columns == next.columns && revision.item == next.item
  }

  /// Makes it one for that revision, without a version if it was for another one.
  fileprivate func begin(_ next: NextRevision, _ keys: KeyIdentity) {
    if fits(next, keys) { return }
    revision = (next.item, next.columns, keys)
    versions = [:]
  }

  fileprivate func has(_ version: VersionInfo) -> Bool { versions[version.number] != nil }

  fileprivate func add(_ value: SealedValue) { versions[value.version] = value }

  /// Takes a version out.
  func take(_ number: Int) -> SealedValue? { versions.removeValue(forKey: number) }
}

/// The identity of the keys in memory: others have another one.
final class KeyIdentity {}

extension Keychain {
  /// Seals a part of what a change of an item will need.
  ///
  /// - Parameter hasNewValue: true when the change also brings a value.
  /// - Returns: false where nothing was sealed: what is left is little, and the change itself seals it; or it will be
  ///   refused, with the reason.
  public func sealAhead(_ change: ItemChange, hasNewValue: Bool, _ ahead: SealedAhead) -> Bool {
    guard change.update, ahead.partsLeft > 0, !hasFailed, case .none = transaction.state else { return false }
    do throws(VaultError) {
      guard let old = try find(change.name), opensValues(of: old.columns.accessible) else { return false }
      do throws(ValueError) { try change.checkUse(of: old.head.item) } catch { return false }
      let item = change.applied(to: old.head.item)
      guard opensValues(of: item.policy.accessible) else { return false }
      let next = try NextRevision(of: old, as: item, hasNewValue: hasNewValue)
      ahead.begin(next, bound.identity)
      return try sealPart(of: next, ahead)
    } catch {
      // The change meets it again.
      return false
    }
  }

  private func sealPart(of next: NextRevision, _ ahead: SealedAhead) throws(VaultError) -> Bool {
    let left = zip(next.old.head.item.versions, next.old.head.digests).dropFirst(next.surplus)
      .filter { version, _ in next.reseals(version) && !next.checks(version) && !ahead.has(version) }
    guard left.reduce(0, { $0 + $1.0.size }) > SealedAhead.little else { return false }
    ahead.partsLeft -= 1
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    var bytes = 0
    for (version, digest) in left {
      guard bytes == 0 || version.size <= SealedAhead.part - bytes else { break }
      ahead.add(
        try reseal(version, digest, next.old.columns, next.columns, scratch) { (_: RawSpan) throws(VaultError) in })
      bytes += version.size
    }
    return true
  }
}
