internal import VaultCore
package import VaultModel
internal import VaultStore

/// The part of one call that changes items with long versions: these are sealed before the change, a part in each
/// attempt to make it, so that others have their turn in between.
///
/// It is kept for as long as the call is not answered. It holds nothing in the clear, and at most what one call may
/// seal anew.
package final class LongChange {
  let ahead = SealedAhead()

  package init() {}
}

/// A call that changes items, as far as something can be prepared for it.
package enum ItemWork {
  case set(ItemChange, NewValue)
  case copy(ItemName, to: ItemName, replacing: Bool)
  case move(ItemName, to: ItemName)
  case restoreVersion(Int, of: ItemName)
  case delete([ItemName], isForGood: Bool)
  case undelete(ItemName)
}

extension Items {
  /// Seals a part of what a call will need; false when it is to be done now, or is refused.
  ///
  /// - Parameter fill: puts the bytes of a new value in place; false when they are not what they should be.
  package func prepare(
    _ work: ItemWork, _ long: LongChange, for caller: Caller, fill: (inout MutableRawSpan) -> Bool = { _ in false }
  ) -> Bool {
    guard let keychain = vault.openKeychain else { return false }
    do throws(Refusal) {
      if keychain.sealAhead(try revisions(work, keychain, for: caller), long.ahead) { return true }
    } catch {
      // The call itself is refused again, and with its reason.
      return false
    }
    guard case .set(let change, .bytes(let count)) = work,
      keychain.wantsAhead(valueOf: count, for: change, long.ahead)
    else { return false }
    defer { valueInHand.empty() }
    guard valueInHand.fill(count: count, fill) else { return false }
    return valueInHand.withBytes { keychain.sealAhead($0, of: change, long.ahead) }
  }

  /// The change that a call makes, where its caller may do what it asks for.
  private func revisions(
    _ work: ItemWork, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> [Revision] {
    switch work {
    case .set(let change, let value):
      let hasNewValue: Bool
      switch value {
      case .same: hasNewValue = false
      case .bytes, .generated: hasNewValue = true
      case .wrong: return []
      }
      try check(change, keychain, for: caller)
      return [.set(change, hasNewValue: hasNewValue)]
    case .copy(let source, let target, let replacing):
      guard let change = try copyChange(source, target, replacing, keychain, for: caller) else { return [] }
      return [.set(change, hasNewValue: true)]
    case .move(let name, let new):
      try checkMove(name, to: new, for: caller)
      return [.move(name, to: new)]
    case .restoreVersion(let number, let name):
      try checkRestoring(name, for: caller)
      return [.restoreVersion(number, of: name)]
    case .delete(let names, let isForGood):
      guard !isForGood, vault.settings.trash != nil else { return [] }
      var refused: ItemName?
      try checkDeletion(names, keychain, for: caller, refused: &refused)
      return Set(names).map { .trash($0) }
    case .undelete(let name):
      _ = try trashedItem(name, keychain, for: caller)
      return [.restore(name)]
    }
  }
}
