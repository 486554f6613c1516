package import VaultCore
package import VaultModel

/// The proofs of presence, with their kind and time, by which items that require a person are served.
///
/// A proof counts for one authentication session and within an item's reuse window, never for the whole machine. Times
/// are `CLOCK_BOOTTIME` nanoseconds. A lock forgets all proofs.
package struct Authorizations {
  /// The kind of proof that was shown.
  package enum Evidence: Hashable, CaseIterable {
    /// PAM's service `vault` said yes to a finger or the login password.
    case presence
    /// PAM's service `vault-biometry` said yes.
    case biometry
    /// A password of the vault.
    case password

    /// True when this kind of proof meets an item's requirement.
    package func satisfies(_ requirement: Requirement) -> Bool {
      switch requirement {
      case .none, .userPresence: true
      case .biometry: self == .biometry
      case .password: self == .password
      }
    }
  }

  private struct Proof: Hashable {
    var session: AuthenticationSession
    var evidence: Evidence
  }

  private struct Given {
    var time: Int64
    /// The slots by which the proof counts.
    var slots: [SlotRecord]
  }

  private var given: [Proof: Given] = [:]

  /// Remembers the proof that a session has shown just now, and the slots by which it counts: the slot that was opened,
  /// or the slots whose terms accept presence.
  package mutating func add(
    _ evidence: Evidence, by session: AuthenticationSession, with slots: [SlotRecord], now: Int64
  ) {
    // No proof counts for longer than the longest window, so the table stays small.
    given = given.filter { now - $0.value.time < Int64(Policy.reuseWindows.upperBound) * 1_000_000_000 }
    given[Proof(session: session, evidence: evidence)] = Given(time: now, slots: slots)
  }

  /// True when a session has shown what `policy` requires, within the policy's window.
  package func satisfy(_ policy: Policy, _ session: AuthenticationSession, now: Int64) -> Bool {
    if policy.require == .none { return true }
    return Evidence.allCases.contains { evidence in
      guard evidence.satisfies(policy.require), let time = given[Proof(session: session, evidence: evidence)]?.time
      else {
        return false
      }
      return now - time < Int64(policy.reuseWindow) * 1_000_000_000
    }
  }

  package mutating func forget() { given = [:] }

  /// True when no proof is remembered.
  var isEmpty: Bool { given.isEmpty }

  /// Forgets the proofs that were shown with any of these slots, which are gone.
  package mutating func forget(_ gone: [SlotRecord]) {
    given = given.filter { entry in !entry.value.slots.contains(where: gone.contains) }
  }
}
