import VaultCore
import VaultModel

/// The age that the chains of the unlocked vault give the audit log.
///
/// Anyone who has the disk can write chains of a cold start, with any time and any age, and a clock can jump back and
/// forth. So from each chain of the unlocked vault on, the log ages by no more than the time since that chain. A chain
/// from a time that is yet to come says nothing.
struct AuditAge {
  /// The most chains that are looked at.
  fileprivate static let mostChains = 64

  /// The times and ages of the last chains, in no order.
  private var chains: [(time: Int64, age: Int64)]
  /// The greatest age of these chains.
  private var age: Int64

  init(_ chain: AuditChain) { (chains, age) = ([(chain.time, chain.age)], chain.age) }

  /// Adds a chain, and forgets the one that was added first if there are more than ``mostChains``.
  mutating func add(_ chain: AuditChain) {
    if chains.count == Self.mostChains { chains.removeFirst() }
    chains.append((chain.time, chain.age))
    age = max(age, chain.age)
  }

  /// The age at the time `now`, if the steps from chain to chain give the log the age `steps`.
  func age(at now: Int64, of steps: Int64) -> Int64 {
    let bounds = chains.filter { $0.time <= now }.map { Seconds.after(Seconds.from($0.time, to: now), $0.age) }
    return max(age, min(steps, bounds.min() ?? steps))
  }
}

extension Keychain {
  /// The age of the log at the time `now`, in Unix seconds.
  func auditAge(at now: Int64) -> Int64 { auditAge(at: now, (try? knownAuditAge()) ?? nil) }

  /// The age of the log at the time `now`, given what ``knownAuditAge()`` has returned.
  func auditAge(at now: Int64, _ known: AuditAge?) -> Int64 {
    guard let last = lastAuditChain else { return 0 }
    let steps = AuditChain.age(at: now, since: last.time, last.age)
    return known?.age(at: now, of: steps) ?? steps
  }

  /// The time at which the last chain began, and the age of the log at that time; nil when there is none. Before the
  /// first entry of this process, this is what the store says.
  private var lastAuditChain: (time: Int64, age: Int64)? {
    switch bound.audit {
    case .some(let writing): return (writing.time, writing.age)
    case .none: break
    }
    guard let end = try? storedEnd(), let last = try? database.auditRow(end.position.row),
      let row = try? database.auditRow(last.chain), row.isBeginning, let chain = try? Self.chain(row)
    else { return nil }
    return (chain.time, chain.age)
  }

  /// The age according to the chains that this process continues or, after an unlock, to those that the anchor covers;
  /// nil when there are none, or they cannot be authenticated.
  func knownAuditAge() throws(VaultError) -> AuditAge? {
    switch bound.audit {
    case .some(let writing): if let known = writing.known { return known }
    case .none: break
    }
    guard keys.whenUnlocked.audit != nil, let anchor = (try? anchor()) ?? nil else { return nil }
    var known: AuditAge?
    // Chains that continue a chain that has not been looked at yet.
    var continued: [AuditChain] = []
    var next = anchor.joined.row
    for _ in 0..<AuditAge.mostChains {
      guard let last = try database.auditRow(next), let row = try database.auditRow(last.chain), row.isBeginning,
        let chain = try? Self.chain(row)
      else { break }
      switch chain.origin {
      case .unlocked where isRight(chain, row.row):
        for one in [chain] + continued { if known?.add(one) == nil { known = AuditAge(one) } }
        continued = []
      case .unlocked, .cold: continued = []
      case .continued: continued.append(chain)
      }
      next = anchor.rowBefore(row.row)
    }
    return known
  }
}
