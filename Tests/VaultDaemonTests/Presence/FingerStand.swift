import Glibc
import Testing
import VaultTesting

/// A user's vault with a real fprintd, in which the user's right index finger is enrolled as the print `finger-A`.
struct FingerStand {
  let vault: UserVault
  let reader: FingerprintStand

  init(pam: String = PAMService.fingerOrPassword) throws {
    vault = try UserVault(pam: pam)
    do {
      reader = try FingerprintStand(in: vault.sandbox)
      try reader.enrol(vault.user.name, print: "finger-A")
    } catch {
      vault.close()
      throw error
    }
  }

  func close() { vault.close() }

  /// Locks the vault, and opens it with the right finger and nothing else.
  func expectFingerOpens(_ comment: Comment? = nil) throws {
    if try !vault.state().hasPrefix("cold") { try vault.lock() }
    let talk = try vault.unlock(touching: ["finger-A"], on: reader)
    #expect(talk.reply?.error == nil && talk.reply != nil, comment ?? "\(talk) \(reader.log)")
    #expect(try vault.state() == "unlocked: by fingerprint or login password")
  }

  /// Makes the machine sleep and wake, as logind reports it. logind is mocked only here: fprintd listens to it, too,
  /// and pam_fprintd expects more from it than the mock can tell.
  func sleep() throws {
    let logind = try reader.bus.mock("org.freedesktop.login1", ["--template", "logind"])
    defer { logind.stop() }
    try wait("the daemon to listen to logind") {
      try (vault.client().call("Status").parameters["locks_on"] as? [String])?.contains("sleep") == true
    }
    try prepareForSleep(true)
    try wait("the sleep") { try vault.state() == "locked: the machine goes to sleep" }
    try prepareForSleep(false)
  }

  private func prepareForSleep(_ isStart: Bool) throws {
    try reader.bus.emit(
      "org.freedesktop.login1", LockStand.logindPath, LockStand.manager, "PrepareForSleep", "b", "\(isStart)")
  }

  /// Polls without a pause until the condition holds, for at most 60 s.
  func wait(_ what: String, until isSo: () throws -> Bool) throws {
    let deadline = time(nil) + 60
    while time(nil) < deadline { if try isSo() { return } }
    throw SandboxError("waited in vain for \(what): \(vault.sandbox.daemonLog)")
  }
}
