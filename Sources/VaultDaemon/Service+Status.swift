internal import CLinux
internal import Glibc
internal import VaultAPI
internal import VaultStore

/// Status: where the vault stands. It asks for nothing, so it moves no deadline.
extension Service {
  func status(_: Wire.Empty, _ connection: Connection) {
    openStore(cause: .repaired)
    let deadline = policy.next
    var status = Wire.StatusReply(
      state: state.kind.rawValue, cause: state.cause.text, since: state.since, methods: methods(), warnings: warnings,
      version: Version.text, pid: Int(getpid()))
    if let deadline, deadline.at != .max {
      status.locksAt = clock.wall() + (deadline.at - clock.boot()) / 1_000_000_000
      status.locksBecause = deadline.reason.rawValue
    }
    switch vault.content {
    case .none: break
    case .unreadable(let error): status.problem = error.text
    case .open(let keychain):
      let digits = Array("0123456789abcdef")
      status.vault = String(keychain.vaultID.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
      status.items = (try? keychain.itemCount())
      if let problem = vault.bootKeyProblem { status.warnings.append(problem) }
      if keychain.newestTime > clock.wall() {
        status.warnings.append("the clock is behind the newest time in the store; expiry counts from the later one")
      }
    }
    connection.reply(status)
  }

  private func methods() -> [Wire.Method] {
    Self.methods.keys.sorted().map { name in
      var reason: String?
      switch vault.content {
      case .none: reason = "there is no vault yet; make one with vault init"
      case .unreadable: reason = "the store cannot be opened"
      case .open(let keychain): reason = unavailable(name, keychain)
      }
      return Wire.Method(name: name, available: reason == nil, reason: reason)
    }
  }
}
