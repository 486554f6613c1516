package import VaultModel
internal import VaultStore

/// The part of one call that changes an item with long versions: these are sealed before the change, a part in each
/// attempt to make it, so that others have their turn in between.
///
/// It is kept for as long as the call is not answered. It holds nothing in the clear, and at most what one item has.
package final class LongChange {
  let ahead = SealedAhead()

  package init() {}
}

extension Items {
  /// Seals a part of what a change will need; false when the change is to be made now, or is refused.
  package func prepare(_ change: ItemChange, _ value: NewValue, _ long: LongChange, for caller: Caller) -> Bool {
    let hasNewValue: Bool
    switch value {
    case .same: hasNewValue = false
    case .bytes, .generated: hasNewValue = true
    case .wrong: return false
    }
    guard let keychain = vault.openKeychain else { return false }
    // The change itself is refused again, and with its reason.
    do throws(Refusal) { try check(change, keychain, for: caller) } catch { return false }
    return keychain.sealAhead(change, hasNewValue: hasNewValue, long.ahead)
  }
}
