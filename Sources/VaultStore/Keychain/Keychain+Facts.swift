internal import VaultBytes
import VaultCore
import VaultModel

// The facts in the class records beside their hashes: the number of items and the newest times. The facts about free
// numbers are in Keychain+Numbers.
//
// Each class determines only its own items. A time that somebody forged under the key of `always`, which the boot key
// gives, does not decide when an item of another class expires.
extension Keychain {
  /// The number of items of all classes, without those in the trash. It can be read in every state of the keychain, but
  /// is not authenticated until the keys are in memory.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when a class record cannot be read.
  public func itemCount() throws(VaultError) -> Int {
    for accessible in AccessClass.allCases where facts[accessible] == nil { throw Self.unreadableRecord(accessible) }
    return Int(clamping: knownItems - AccessClass.allCases.reduce(0) { $0 + (facts[$1]?.trashed ?? 0) })
  }

  /// The number of items in the classes whose records can be read.
  var knownItems: Int64 {
    AccessClass.allCases.reduce(0) { $0.addingReportingOverflow(facts[$1]?.items ?? 0).partialValue }
  }

  /// The newest time that this vault knows to have passed, in Unix seconds: no write is later. 0 until a key has
  /// authenticated a class record.
  public var newestTime: Int64 { AccessClass.allCases.reduce(0) { max($0, vouchedTime($1) ?? 0) } }

  func vouchedTime(_ accessible: AccessClass) -> Int64? {
    isVouchedFor[accessible] ? facts[accessible]?.time : nil
  }

  /// The later of `now` and the newest time of any write of a class.
  func effective(_ now: Int64, _ accessible: AccessClass) -> Int64 { max(now, vouchedTime(accessible) ?? now) }

  /// True when an item has expired.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the class record does not show whether the clock was turned back.
  func hasExpired(_ item: ItemInfo, now: Int64) throws(VaultError) -> Bool {
    guard let expires = item.expires else { return false }
    let accessible = item.policy.accessible
    guard isVouchedFor[accessible] || expires <= now else {
      throw .corrupt(
        "cannot tell whether the item has expired: the class record of \(accessible.name) cannot be read")
    }
    return expires <= effective(now, accessible)
  }

  /// Notes that the open transaction changes a class at the time `now`.
  func touch(_ accessible: AccessClass, now: Int64) {
    transaction.stamp = max(transaction.stamp ?? now, now)
    facts[accessible]?.advance(to: now)
  }

  /// Raises the facts of a class to the facts that another store had, so that no time and no number is used a second
  /// time.
  func raise(_ accessible: AccessClass, to other: ClassRecord.Facts) {
    facts[accessible] = facts[accessible]?.raised(to: other)
  }

  /// Reads the facts in the class records, which are not encrypted.
  func readFacts() throws(VaultError) {
    for accessible in AccessClass.allCases {
      do throws(VaultError) {
        facts[accessible] = try database.hashes(accessible).flatMap { record in
          record.withSpan { try? ClassRecord.facts(in: $0) }
        }
      } catch .corrupt { facts[accessible] = nil }
      if facts[accessible] == nil { notice(Self.unreadableRecord(accessible)) }
    }
  }

  /// Checks whether a class's record is authentic, now that the key is in memory, and if so trusts its facts. If it is
  /// not authentic, the items are served and nothing is written.
  func vouch(for accessible: AccessClass) {
    isVouchedFor[accessible] = false
    do throws(VaultError) {
      facts[accessible] = try classRecord(accessible).facts
      isVouchedFor[accessible] = true
    } catch { notice(error) }
  }

  static func unreadableRecord(_ accessible: AccessClass) -> VaultError {
    .corrupt("the class record of \(accessible.name) cannot be read")
  }
}
