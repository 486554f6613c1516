internal import CLinux
internal import Glibc
internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Status: where the vault stands. It asks for nothing, so it moves no deadline.
extension Service {
  func status(_: Wire.Empty, _ connection: Connection) {
    openStore(cause: .repaired)
    var isWanted = true
    connection.hold { isWanted = false }
    methods(for: connection.peer.uid, connection) { [unowned self] methods in
      if isWanted { connection.reply(status(methods)) }
    }
  }

  func status(_ methods: [Wire.Method]) -> Wire.StatusReply {
    var status = Wire.StatusReply(
      state: state.kind.rawValue, cause: state.cause.text, since: state.since, locksOn: triggers?.watched ?? [],
      methods: methods, warnings: memoryWarnings + (triggers?.warnings ?? []), version: Version.text, pid: Int(getpid())
    )
    if let deadline = policy.next, deadline.at != .max {
      status.locksAt = Seconds.after((deadline.at - clock.boot()) / 1_000_000_000, clock.wall())
      status.locksBecause = deadline.reason.rawValue
    }
    switch vault.content {
    case .none: break
    case .unreadable(let error): status.problem = error.text
    case .open(let keychain):
      let digits = Array("0123456789abcdef")
      status.vault = String(keychain.vaultID.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
      status.items = (try? keychain.itemCount())
      status.integrity = Wire.Integrity(keychain.integrity)
      if let problem = check.problem {
        status.warnings.append("the store could not be checked: \(problem.text); `vault verify` begins again")
      }
      status.rekey = rekeyStatus(keychain)
      if let problem = rekeying?.problem { status.warnings.append("the rekey rests: \(problem.text)") }
      if let problem = vault.bootKeyProblem { status.warnings.append(problem) }
      if keychain.newestTime > clock.wall() {
        status.warnings.append("the clock is behind the newest time in the store; expiry counts from the later one")
      }
    }
    return status
  }

  /// That secrets may reach the swap: asked anew each time, because the limit is reached with the keys, not at the start.
  private var memoryWarnings: [String] {
    let made = SecureBytes.made
    guard made.unlocked > 0 else { return [] }
    return [
      "\(made.unlocked) of \(made.total) buffers for secrets could not be locked in memory: raise RLIMIT_MEMLOCK, or they "
        + "may reach the swap"
    ]
  }
}
