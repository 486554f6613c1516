import Foundation
import Glibc
import Testing
import VaultTesting

/// The program of a login, in which pam_vault.so must leave no trace.
@Suite("A login's program", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct LoginProcessTests {
  @Test("is held up by nothing that goes on behind it: none of its files stays open, however long a daemon takes")
  func holdsNothing() throws {
    try LoginStand.with { (stand) throws in
      let folder = stand.sandbox.runtime + "/vault"
      unsafe mkdir(folder, 0o700)
      unsafe chown(folder, stand.user.uid, stand.user.uid)
      let silent = try Activation(
        stand.sandbox.socket, in: stand.sandbox, command: ["/bin/sh", "-c", "exec cat >/dev/null"], as: stand.user)
      let lock = stand.sandbox.root + "/lock"
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password],
        identity: ["--clear-groups", "/bin/sh", "-c", "exec 9>\(lock); flock 9; exec \"$@\"", "sh"])
      #expect(login.status == 0, "\(login)")
      // The remaining work goes on without the login process.
      let free = try stand.sandbox.run("--nonblock", lock, "true", program: "/usr/bin/flock")
      #expect(free.status == 0, "the login has ended, and its lock has not")
      withExtendedLifetime(silent) {}
    }
  }

  @Test("goes on with its signals as they were") func signals() throws {
    let line = "session required pam_exec.so quiet ROOT/look ROOT/"
    try LoginStand.with(session: (line + "before", line + "behind")) { (stand) throws in
      let root = stand.sandbox.root
      // The parent of the program that pam_exec starts is the login.
      try stand.sandbox.run(
        "-c", "cat >\(root)/look; chmod 755 \(root)/look", program: "/bin/sh",
        stdin: "#!/bin/sh\ngrep ^Sig /proc/$PPID/status | grep -v SigQ >$1\n")
      try stand.makeVault()
      #expect(try stand.logIn().status == 0)
      func signals(_ place: String) throws -> String { try String(contentsOfFile: root + place, encoding: .utf8) }
      #expect(try signals("/before").contains("SigBlk:\t0000000000000000\n"))
      #expect(try signals("/behind") == signals("/before"))
    }
  }

  @Test("needs no module of PAM's to say where the user's socket is") func usualPlace() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      let usual = "/run/user/\(stand.user.uid)"
      unsafe mkdir("/run/user", 0o755)
      try FileManager.default.createSymbolicLink(atPath: usual, withDestinationPath: stand.sandbox.runtime)
      defer { unsafe unlink(usual) }
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password], without: ["XDG_RUNTIME_DIR"])
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("looks for the vault where the daemon does, past a path that is not absolute") func relative() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      try stand.endDaemon()
      let share = stand.sandbox.home + "/.local/share"
      try FileManager.default.createDirectory(atPath: share, withIntermediateDirectories: true)
      try FileManager.default.moveItem(atPath: stand.sandbox.store, toPath: share + "/vault")
      let login = try stand.pamtester(
        "authenticate", "acct_mgmt", "open_session", typed: [stand.user.password], but: ["XDG_DATA_HOME": "data"])
      #expect(login.status == 0, "\(login)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }
}
