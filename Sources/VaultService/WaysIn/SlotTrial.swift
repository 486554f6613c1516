package import VaultCore

/// A slot, and the vault key that it gave.
package struct OpenedSlot: Sendable {
  package var slot: SlotRecord
  package var vaultKey: Handover
}

/// A secret tried on slots, one after the other, until one opens.
package enum SlotTrial {
  package enum Outcome: Sendable {
    case opened(OpenedSlot)
    /// It opens none of them.
    case wrong
    /// It opens none of those that could be tried, and for another one there was not enough memory. `tried` says whether there
    /// were any.
    case outOfMemory(tried: Bool)
    /// Nobody wants to know any more.
    case abandoned(tried: Bool)
  }

  /// Runs where it may take long. `open` tries one slot.
  package static func run(
    _ slots: [SlotRecord], unless cancellation: Cancellation, _ open: (SlotRecord) throws(CryptoError) -> SecureBytes
  ) -> Outcome {
    var tried = false
    var lacksMemory = false
    for slot in slots {
      guard !cancellation.isCancelled else { return .abandoned(tried: tried) }
      do throws(CryptoError) {
        return .opened(OpenedSlot(slot: slot, vaultKey: Handover(try open(slot))))
      } catch .outOfMemory {
        lacksMemory = true
      } catch {
        tried = true
      }
    }
    return lacksMemory ? .outOfMemory(tried: tried) : .wrong
  }
}

/// The limit of work in trying one secret on all slots. A backup's header, or a store that somebody else wrote to, whose
/// slots are at the ceiling would otherwise keep the one worker busy for as long as it likes.
package enum TrialBudget {
  package static let slots = 64
  /// Bytes times passes: eight derivations at the ceiling.
  package static let work = 8 * Argon2id.Parameters.ceiling.memory * Argon2id.Parameters.ceiling.passes

  package static func admits(_ costs: [Argon2id.Parameters]) -> Bool {
    guard costs.count <= slots else { return false }
    var sum = 0
    for cost in costs {
      let work = work(of: cost)
      // Both terms are checked, so the sum stays far below the largest number.
      guard (0...Self.work).contains(work) else { return false }
      sum += work
    }
    return sum <= work
  }

  private static func work(of cost: Argon2id.Parameters) -> Int {
    let (work, overflow) = cost.memory.multipliedReportingOverflow(by: cost.passes)
    return overflow ? .max : work
  }

  /// Those of `slots` that may be tried at once: all, where nobody but this program has added any. The cheapest come first, so
  /// that what somebody else put in costs nobody more than their own slot does, for each.
  package static func affordable(_ slots: [SlotRecord]) -> [SlotRecord] {
    let costs = slots.map { slot in (work: slot.kdf.map(work(of:)) ?? 0, slot: slot) }
    var first = costs.sorted { ($0.work, $0.slot.id) < ($1.work, $1.slot.id) }.map(\.slot)
    while !admits(first.compactMap(\.kdf)) { first.removeLast() }
    return first
  }
}
