package import VaultCore

/// A slot, and the vault key that it contained.
package struct OpenedSlot: Sendable {
  package var slot: SlotRecord
  package var vaultKey: Handover
}

/// The trial of a secret on slots, one after the other, until one opens.
package enum SlotTrial {
  package enum Outcome: Sendable {
    case opened(OpenedSlot)
    /// The secret opens none of the slots.
    case wrong
    /// The secret opens none of the slots that could be tried, and there was not enough memory to try another one.
    /// `tried` tells whether any slot was tried.
    case outOfMemory(tried: Bool)
    /// The trial was cancelled. `tried` tells whether any slot was tried.
    case abandoned(tried: Bool)

    /// True if the secret was tried, and opened none of the slots on which it was tried.
    var hasOpenedNothing: Bool {
      switch self {
      case .opened: false
      case .wrong: true
      case .outOfMemory(let tried), .abandoned(let tried): tried
      }
    }
  }

  /// Tries the slots one after the other. Call this on a worker, because it may take long. `open` tries one slot.
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

/// The limit on the work of trying one secret on all slots. Without it, the header of a backup, or a store that
/// somebody else has written to, could have slots at the ceiling of Argon2id and keep the only worker busy for any
/// length of time.
package enum TrialBudget {
  package static let slots = 64
  /// The limit in bytes times passes: eight derivations at the ceiling.
  package static let work = 8 * Argon2id.Parameters.ceiling.memory * Argon2id.Parameters.ceiling.passes

  package static func admits(_ costs: [Argon2id.Parameters]) -> Bool {
    guard costs.count <= slots else { return false }
    var sum = 0
    for cost in costs {
      let work = work(of: cost)
      // Each term is checked, so the sum stays far below the largest number.
      guard (0...Self.work).contains(work) else { return false }
      sum += work
    }
    return sum <= work
  }

  private static func work(of cost: Argon2id.Parameters) -> Int {
    let (work, overflow) = cost.memory.multipliedReportingOverflow(by: cost.passes)
    return overflow ? .max : work
  }

  /// The slots that may be tried for one secret: all of them, if only this program has added slots. The cheapest come
  /// first, so that slots which somebody else has added each delay a person by no more than the person's own slot.
  package static func affordable(_ slots: [SlotRecord]) -> [SlotRecord] {
    let costs = slots.map { slot in (work: slot.kdf.map(work(of:)) ?? 0, slot: slot) }
    var first = costs.sorted { ($0.work, $0.slot.id) < ($1.work, $1.slot.id) }.map(\.slot)
    while !admits(first.compactMap(\.kdf)) { first.removeLast() }
    return first
  }
}
