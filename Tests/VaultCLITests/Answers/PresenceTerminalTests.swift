import Testing
import VaultTesting

/// A user of the machine at a terminal, with the real login password through the real PAM.
@Suite(
  "On a terminal, with PAM", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct PresenceTerminalTests {
  /// Makes a user's vault that the login password also opens.
  private func vault() throws -> UserVault {
    let vault = try UserVault(pam: PAMService.password)
    do {
      try vault.make()
      let slot = try vault.run(
        "slot", "add", "pam", "--keystore", "file", "--insecure-file", "--password-stdin", stdin: vault.password + "\n")
      #expect(slot.status == 0)
      #expect(slot.errors.hasPrefix("vault: note: whoever can read the daemon's files"), "\(slot)")
    } catch {
      vault.close()
      throw error
    }
    return vault
  }

  @Test("the login password of a real user opens the vault, and a wrong one leads to the vault's")
  func unlock() throws {
    let vault = try vault()
    defer { vault.close() }
    let terminal = try vault.terminal("unlock")
    try terminal.expect("Fingerprint or login password to unlock the vault\r\n")
    try terminal.expect("Login password for \(vault.user.name): ")
    #expect(!terminal.echoes)
    terminal.type(vault.user.password)
    try terminal.expect("unlocked")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains(vault.user.password))
    #expect(try vault.state() == "unlocked: by fingerprint or login password")

    try vault.lock()
    let wrong = try vault.terminal("unlock")
    try wrong.expect("Login password for \(vault.user.name): ")
    wrong.type("wrong")
    try wrong.expect("login password not accepted. Try your vault password.\r\n")
    try wrong.expect("Vault password: ")
    wrong.type(vault.password)
    #expect(try wrong.wait() == 0)
    #expect(try vault.state() == "unlocked: by password")
  }

  @Test("with --method nothing else is tried") func method() throws {
    let vault = try vault()
    defer { vault.close() }
    let pam = try vault.terminal("unlock", "--method", "pam")
    try pam.expect("Login password for \(vault.user.name): ")
    for attempt in 1...3 {
      pam.type("wrong")
      try pam.expect("vault: you were not recognized")
      if attempt < 3 { try pam.expect("Login password for \(vault.user.name): ") }
    }
    #expect(try pam.wait() == 77)
    #expect(!pam.screen.contains("Vault password"))
    let password = try vault.terminal("unlock", "--method", "password")
    try password.expect("Vault password: ")
    password.type(vault.password)
    #expect(try password.wait() == 0)
    #expect(!password.screen.contains("login"))
  }

  @Test("an item that needs the unlock and then a proof that the unlock was not is had after both") func both() throws {
    let vault = try vault()
    defer { vault.close() }
    let opened = try vault.run("unlock", "--password-stdin", stdin: vault.password + "\n")
    #expect(opened.status == 0, "\(opened)")
    let stored = try vault.run("set", "door", "--require", "password", stdin: "hunter3")
    #expect(stored.status == 0, "\(stored)")
    try vault.lock()
    let terminal = try vault.terminal("get", "door")
    try terminal.expect("Login password for \(vault.user.name): ")
    terminal.type(vault.user.password)
    try terminal.expect("Vault password to use door (asked by: vault get door): ")
    terminal.type(vault.password)
    try terminal.expect("hunter3")
    #expect(try terminal.wait() == 0)
  }

  @Test("in a container, whose processes belong to a session from outside, a proof counts for the one that gave it")
  func container() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      set -e
      echo '\(password)' | vault init --password-stdin \(floorOptions.joined(separator: " "))
      echo '\(password)' | vault unlock --password-stdin
      printf hunter2 | vault set web --require password
      [ "$(ps -o sid= $$)" -eq 0 ]
      vault get web
      vault get web
      """
    let terminal = try Terminal(
      sandbox, ["--pid", "--fork", "--mount-proc", "--kill-child", "/bin/sh", "-c", script],
      program: "/usr/bin/unshare")
    for _ in 1...2 {
      try terminal.expect("Vault password to use web (asked by: vault get web): ")
      terminal.type(password)
      try terminal.expect("hunter2")
    }
    #expect(try terminal.wait() == 0)
  }

  @Test("control-C at PAM's question gives up, and nothing is left running") func interrupt() throws {
    let vault = try vault()
    defer { vault.close() }
    let terminal = try vault.terminal("unlock")
    try terminal.expect("Login password for \(vault.user.name): ")
    terminal.control("c")
    #expect(try terminal.wait() == 130)
    #expect(terminal.isCooked)
    #expect(try vault.state().hasPrefix("cold"))
  }

  @Test("get asks for the unlock and then for what the item requires, and elsewhere says that nobody was asked")
  func get() throws {
    let vault = try vault()
    defer { vault.close() }
    let stored = try vault.terminal("set", "web", "--require", "user-presence", "--reuse", "30s", "--generate")
    try stored.expect("Login password for \(vault.user.name): ")
    stored.type(vault.user.password)
    #expect(try stored.wait() == 0)
    let elsewhere = try vault.run("get", "web")
    #expect(elsewhere.status == 77)
    #expect(elsewhere.errors.contains("`web` requires user-presence, and nobody was asked; run it on a terminal"))
    #expect(elsewhere.stdout == [])

    let terminal = try vault.terminal("get", "web")
    try terminal.expect("Fingerprint or login password to use web (asked by: vault get web)\r\n")
    try terminal.expect("Login password for \(vault.user.name): ")
    terminal.type(vault.user.password)
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.split(separator: "\r\n").last?.count == 24)

    // Each terminal is an authentication session of its own, and the unlock made in it counts as presence there.
    try vault.lock()
    let locked = try vault.terminal("get", "web")
    try locked.expect("Fingerprint or login password to unlock the vault (asked by: vault get web)\r\n")
    try locked.expect("Login password for \(vault.user.name): ")
    locked.type(vault.user.password)
    #expect(try locked.wait() == 0)
    #expect(!locked.screen.contains("to use web"))
  }

  @Test(
    "init offers the login password where PAM has the service, and takes no for an answer", arguments: ["y", "n", ""])
  func offer(answer: String) throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    try vault.start()
    let terminal = try vault.terminal("init", "--no-recovery", "--kdf-memory", "19m", "--kdf-passes", "2")
    for question in ["New vault password: ", "Again: "] {
      try terminal.expect(question)
      terminal.type(vault.password)
    }
    try terminal.expect(
      "Also open it with your login password? [y/N] ")
    terminal.type(answer)
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.contains("note: root can take the key") == (answer == "y"))
    let slots = try vault.run("slot", "list").output
    #expect(slots.contains("pam       20") == (answer == "y"), "\(slots)")
    guard answer == "y" else { return }
    #expect(slots.contains("key in memory"))
    try vault.lock()
    #expect(try vault.unlock(["method": "pam"], typing: [vault.user.password]).reply?.error == nil)
    // A vault exists now, so `init` offers nothing.
    let second = try vault.terminal("init")
    #expect(try second.wait() == 73)
    #expect(!second.screen.contains("Also open it"))
  }

  @Test("init offers nothing where standard input answers") func noOfferToInput() throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    try vault.start()
    let outcome = try vault.run(
      "init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2", stdin: vault.password + "\n")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try !vault.run("slot", "list").output.contains("pam"))
  }

  @Test("init offers nothing where PAM has no such service") func noOffer() throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    vault.service.remove()
    try vault.start()
    let terminal = try vault.terminal("init", "--no-recovery", "--kdf-memory", "19m", "--kdf-passes", "2")
    for question in ["New vault password: ", "Again: "] {
      try terminal.expect(question)
      terminal.type(vault.password)
    }
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("Also open it"))
  }
}
