import Testing
import VaultTesting

@Suite(
  "What is possible now, and why the rest is not",
  .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct MethodsTests {
  /// Expects the same answer about a method from `status`, `doctor` and the Status call.
  private func expect(_ vault: UserVault, _ method: String, _ reason: String?) throws {
    #expect(try vault.obstacle(to: method) == reason)
    let status = try vault.run("status")
    #expect(status.output.contains("unlock by:  \(method)\(reason.map { ": not now, \($0)" } ?? "")\n"), "\(status)")
    let doctor = try vault.run("doctor")
    // In both outputs the advice stands behind a semicolon.
    let line = reason.map { "warn  unlock by \(method): \($0)\n" } ?? "ok    unlock by \(method): possible now\n"
    #expect(doctor.output.contains(line), "\(doctor)")
  }

  @Test("before there is a vault: what it could be opened with") func new() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.start()
    #expect(try vault.obstacle(to: "pam") == "there is no vault yet; make one with `vault init`")
    vault.service.remove()
    #expect(
      try vault.obstacle(to: "pam")
        == "/etc/pam.d/\(vault.service.name) is missing; write it, or set pam-service in vaultd.conf to `vault`")
  }

  @Test("no slot, no PAM service, no reader, no finger, other fingers, too soon, no key yet: each is told")
  func reasons() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try stand.reader.forget(vault.user.name)
    try vault.make()
    #expect(try vault.obstacle(to: "pam") == "the vault has no pam slot")
    #expect(try vault.obstacle(to: "recovery") == "the vault has no recovery slot")
    #expect(try vault.run("status").output.contains("unlock by:  pam: no, the vault has no pam slot\n"))
    #expect(try !vault.run("doctor").output.contains("unlock by pam"))
    _ = try vault.addSlot("memory")
    try expect(vault, "pam", nil)
    try expect(vault, "password", nil)
    try expect(vault, "fingerprint", "no finger is enrolled; see fprintd-enroll(1)")
    try stand.reader.enrol(vault.user.name, print: "finger-A")
    let changed = "the enrolled fingers are not those the slot was made with; use your vault password"
    try expect(vault, "pam", changed)
    try expect(vault, "fingerprint", changed)
    #expect(try vault.unlock(typing: [vault.password]).reply?.error == nil)
    try stand.wait("the slot to count") { try vault.obstacle(to: "pam") == nil }
    try expect(vault, "fingerprint", nil)
    try stand.reader.unplug()
    try expect(vault, "pam", nil)
    try expect(vault, "fingerprint", "there is no fingerprint reader")
    try vault.sandbox.stopDaemon()
    try vault.start()
    let lost = "this is the first unlock since the daemon started; use your vault password"
    try expect(vault, "pam", lost)
    try expect(vault, "fingerprint", lost)
    _ = try vault.unlock(["method": "password"], typing: ["a wrong password"])
    #expect(try vault.obstacle(to: "password")?.hasPrefix("too soon after the last attempt, wait ") == true)
    try stand.wait("the time to be up") { try vault.obstacle(to: "password") == nil }
    #expect(try vault.unlock(typing: [vault.password]).reply?.error == nil)
    vault.service.remove()
    try expect(
      vault, "pam",
      "/etc/pam.d/\(vault.service.name) is missing; write it, or set pam-service in vaultd.conf to `vault`")
  }
}
