import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What somebody typed and what cannot be stored") struct SecondChanceTests {
  fileprivate static let choice = "Try again with the same value (y), edit it again (e), or give up (n)? "
  private static let question = "Try again with the same value (y), type it again (e), or give up (n)? "
  private static let taken = "Replace its value (r), give another name (a), try again (y), or give up (n)? "
  private static let missing = "Make a new item of that name (y), give another name (a), or give up (n)? "
  fileprivate static let goneEdit =
    "Make a new item of that name (y), give another name (a), edit it again (e), or give up (n)? "
  private static let takenEdit =
    "Replace its value (r), give another name (a), try again (y), edit it again (e), or give up (n)? "
  private static let named =
    "Try again with the same value (y), give another name (a), edit it again (e), or give up (n)? "
  private static let refused = "Type it again (e), give it another kind (k), or give up (n)? "
  private static let canceled = "vault: canceled; the value is not stored yet"
  private static let why = "unlock it, and what was typed is stored"
  private static let gone = "vault: given up; what was typed is gone"
  private static let interrupted = "vault: interrupted; what was typed is gone"

  /// A reason why an edited value cannot be stored.
  enum Reason: CaseIterable {
    case locked, deleted, moved, ended

    /// The commands that run while the editor is open, for sh(1).
    var happens: String {
      switch self {
      case .locked: "vault lock"
      case .deleted: "vault rm web"
      case .moved: "vault mv web elsewhere --yes"
      case .ended: "kill $(cat \"$XDG_DATA_HOME/vault/vault.lock\"); while vault status | grep -q unlocked; do :; done"
      }
    }

    /// The exit code of a person who gives up.
    var status: Int32 {
      switch self {
      case .locked, .ended: 77
      case .deleted, .moved: 66
      }
    }

    /// The question what to do.
    var choice: String { asks ? SecondChanceTests.choice : SecondChanceTests.goneEdit }

    /// True if the command asks for the password first.
    var asks: Bool { self == .locked || self == .ended }

    func end(in sandbox: Sandbox) throws {
      switch self {
      case .locked, .ended: try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      case .deleted: try sandbox.must(["trash", "restore", "web"])
      case .moved: try sandbox.must(["mv", "elsewhere", "web", "--yes"])
      }
    }
  }

  /// Opens an editor that writes `text`, or the next letter if it was open before, while something happens. A question
  /// for the password is canceled with the control key and a letter.
  private func editing(
    _ sandbox: Sandbox, _ reason: Reason, _ text: String = "mine", cancel letter: Character = "d"
  ) throws -> Terminal {
    let script = """
      PATH=\((Sandbox.path(of: "vault") as NSString).deletingLastPathComponent):$PATH
      if grep -q \(text) "$1"; then printf ' again' >>"$1"; exit; fi
      printf '\(text)' >"$1"
      { \(reason.happens); } >/dev/null 2>&1 </dev/null
      """
    try sandbox.write(script, to: "editor")
    let terminal = try Terminal(
      sandbox, ["edit", "web"], environment: ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"])
    if reason.asks {
      try terminal.expect(Self.why)
      try terminal.expect("Vault password: ")
      terminal.control(letter)
      try terminal.expect(Self.canceled)
    } else {
      // A deleted item has an advice of its own.
      try terminal.expect("vault: no item `web` any more\(reason == .deleted ? ", but one in the trash" : "")")
    }
    return terminal
  }

  @Test(
    "what was edited is stored once the reason is gone, is edited again, or is given up", arguments: Reason.allCases)
  func edited(reason: Reason) throws {
    for (answer, value) in [("y", "mine"), ("e", "mine again"), ("n", "hunter2")] {
      let sandbox = try Sandbox.withVault(unlocked: true)
      defer { sandbox.close() }
      let terminal = try editing(sandbox, reason)
      try terminal.expect(reason.choice)
      if reason == .ended {
        #expect(terminal.screen.contains("vault: the daemon was started again meanwhile, and the vault is locked; "))
      }
      // Nothing is decided by one key too many.
      terminal.type("")
      try terminal.expect(reason.choice)
      try reason.end(in: sandbox)
      terminal.type(answer)
      if answer == "n" { try terminal.expect(Self.gone) }
      #expect(try terminal.wait() == (answer == "n" ? reason.status : 0), "\(terminal.screen)")
      #expect(try sandbox.must(["get", "web"]) == value)
    }
  }

  @Test("a reason that stays is told again") func stays() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try editing(sandbox, .locked)
    for _ in 1...3 {
      try terminal.expect(Self.choice)
      terminal.type("y")
      try terminal.expect("Vault password: ")
      terminal.control("d")
      try terminal.expect(Self.canceled)
    }
    try terminal.expect(Self.choice)
    terminal.control("d")
    #expect(try terminal.wait() == 77)
  }

  @Test(
    "what was edited becomes a new item like the one that is gone, of the same or of another name",
    arguments: [Reason.deleted, .moved], ["y", "a"])
  func editedGone(reason: Reason, answer: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(
      [
        "set", "web", "--update", "--keep-value", "--kind", "api-key", "-a", "user=ana", "--accessible",
        "after-first-unlock",
      ])
    let terminal = try editing(sandbox, reason)
    try terminal.expect(Self.goneEdit)
    terminal.type(answer)
    if answer == "a" {
      try terminal.expect("Another name: ")
      terminal.type("new")
    }
    let name = answer == "a" ? "new" : "web"
    try terminal.expect("vault: stored `\(name)`, version 1")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", name]) == "mine")
    let shown = try sandbox.must(["show", name])
    for part in ["kind: api-key", "user: ana", "after-first-unlock"] { #expect(shown.contains(part), "\(shown)") }
  }

  @Test("what was edited replaces no other item unasked", arguments: ["r", "a", "n"])
  func editedTaken(answer: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try editing(sandbox, .moved)
    try terminal.expect(Self.goneEdit)
    terminal.type("a")
    try terminal.expect("Another name: ")
    terminal.type("a//b")
    try terminal.expect("vault: `a//b` is not a valid item name")
    try terminal.expect(Self.goneEdit)
    terminal.type("a")
    try terminal.expect("Another name: ")
    terminal.type("elsewhere")
    try terminal.expect("vault: `elsewhere` already exists\r\n")
    try terminal.expect(Self.takenEdit)
    #expect(try sandbox.must(["get", "elsewhere"]) == "hunter2")
    terminal.type(answer)
    if answer == "a" {
      try terminal.expect("Another name: ")
      terminal.type("new")
    }
    if answer == "r" { try terminal.expect("vault: stored `elsewhere`, version 2") }
    #expect(try terminal.wait() == (answer == "n" ? 73 : 0))
    #expect(try sandbox.must(["get", "elsewhere"]) == (answer == "r" ? "mine" : "hunter2"))
    if answer == "a" { #expect(try sandbox.must(["get", "new"]) == "mine") }
  }

  @Test("what was edited gets another name once more, whatever the reason is") func renamedAgain() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try editing(sandbox, .deleted)
    for name in ["first", "second"] {
      try terminal.expect(name == "first" ? Self.goneEdit : Self.named)
      terminal.type("a")
      try terminal.expect("Another name: ")
      if name == "first" { try sandbox.must(["lock"]) }
      terminal.type(name)
      if name == "first" {
        try terminal.expect("Vault password: ")
        terminal.control("d")
        try terminal.expect(Self.canceled)
        try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      }
    }
    try terminal.expect("vault: stored `second`, version 1")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "second"]) == "mine")
  }

  @Test("no other name is guessed for an item that is gone") func unguessed() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "webs"], stdin: "v")
    let move = "\(Sandbox.path(of: "vault")) mv web elsewhere --yes >/dev/null 2>&1 </dev/null"
    try sandbox.write("printf mine >\"$1\"; \(move)", to: "editor")
    let terminal = try Terminal(
      sandbox, ["edit", "web"], environment: ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"])
    try terminal.expect("vault: no item `web` any more")
    try terminal.expect("or give up (n)? ")
    terminal.type("n")
    #expect(try terminal.wait() == 66)
    #expect(!terminal.screen.contains("did you mean"), "\(terminal.screen)")
  }

  @Test("no new item is offered to whoever could not see how the one that is gone was protected") func unseen() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let root = try sandbox.run(["-f", sandbox.root], program: "/usr/bin/readlink").output
    let program = root.trimmingCharacters(in: .newlines) + "/confined"
    try FileManager.default.copyItem(atPath: Sandbox.path(of: "vault"), toPath: program)
    let grant = try Terminal(sandbox, ["grant", "user:\(geteuid()),exe:\(program)", "web", "--can", "get,set"])
    try grant.expect("assword")
    grant.type(password)
    try #require(try grant.wait() == 0, "\(grant.screen)")
    let script = "printf mine >\"$1\"; \(Sandbox.path(of: "vault")) rm web >/dev/null 2>&1 </dev/null"
    try sandbox.write(script, to: "editor")
    let terminal = try Terminal(
      sandbox, ["edit", "web"], program: program,
      environment: ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"])
    try terminal.expect("vault: no item `web` any more")
    try terminal.expect(Self.choice)
    try sandbox.must(["trash", "restore", "web"])
    terminal.type("y")
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(try sandbox.must(["get", "web"]) == "mine")
  }

  @Test("control-C at the question for the password costs no edited text, and at the question what to do it is told")
  func interruptedEdit() throws {
    for answer in ["y", "c"] {
      let sandbox = try Sandbox.withVault(unlocked: true)
      defer { sandbox.close() }
      let terminal = try editing(sandbox, .locked, cancel: "c")
      try terminal.expect(Self.choice)
      if answer == "y" {
        try Reason.locked.end(in: sandbox)
        terminal.type("y")
        try terminal.expect("vault: stored `web`, version 2")
      } else {
        terminal.control("c")
        try terminal.expect(Self.interrupted)
      }
      #expect(try terminal.wait() == (answer == "y" ? 0 : 130))
      #expect(terminal.isCooked && !terminal.screen.contains("mine"))
    }
  }

  @Test("what an editor that fails has left is edited again, and nothing is asked where it left nothing") func failing()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.write(
      "if grep -q half \"$1\"; then printf ' whole' >>\"$1\"; else printf half >\"$1\"; exit 3; fi\n", to: "editor")
    let environment: [String: String?] = ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"]
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: environment)
    try terminal.expect("vault: the editor ended with exit status 3")
    let question = "Edit it again (e), or give up (n)? "
    try terminal.expect(question)
    terminal.type("")
    try terminal.expect(question)
    terminal.type("e")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "web"]) == "half whole")
    let other = try Terminal(sandbox, ["edit", "web"], environment: ["VISUAL": "false"])
    #expect(try other.wait() == 74)
    #expect(!other.screen.contains("again"))
  }

  /// A terminal on which the value of a new item was typed once.
  private static func typedOnce(_ sandbox: Sandbox) throws -> Terminal {
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect("Value of `x`: ")
    terminal.type("hunter3")
    try terminal.expect("Again: ")
    return terminal
  }

  /// A terminal on which a value was typed once when the vault was locked elsewhere.
  private static func lockedWhileTyping(_ sandbox: Sandbox) throws -> Terminal {
    let terminal = try typedOnce(sandbox)
    try sandbox.must(["lock"])
    return terminal
  }

  @Test("a value at the prompt is stored once the reason is gone, or is given up", arguments: [true, false])
  func typed(isWanted: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.lockedWhileTyping(sandbox)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["set", "x"], stdin: "theirs")
    terminal.type("hunter3")
    try terminal.expect("vault: `x` already exists")
    try terminal.expect(Self.taken)
    try sandbox.must(["rm", "x"])
    try sandbox.must(["lock"])
    terminal.type("y")
    // Another reason follows.
    try terminal.expect("Vault password: ")
    terminal.control("d")
    try terminal.expect(Self.question)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    // Nothing is decided by one key too many.
    terminal.type("")
    try terminal.expect(Self.question)
    terminal.type(isWanted ? "y" : "n")
    if !isWanted { try terminal.expect(Self.gone) }
    #expect(try terminal.wait() == (isWanted ? 0 : 77))
    #expect(!terminal.screen.contains("hunter3") && terminal.isCooked)
    if isWanted {
      #expect(try sandbox.must(["get", "x"]) == "hunter3")
    } else {
      #expect(try sandbox.run("get", "x").status == 66)
    }
  }

  @Test("three wrong passwords do not cost the value") func wrong() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.lockedWhileTyping(sandbox)
    terminal.type("hunter3")
    for _ in 1...3 {
      try terminal.expect("Vault password: ")
      terminal.type("wrong")
    }
    try terminal.expect("vault: wrong password")
    try terminal.expect(Self.question)
    terminal.type("y")
    try terminal.expect("Vault password: ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hunter3")
  }

  @Test("control-C at a question costs no typed value, and at the question what to do it is told")
  func interruptedSet() throws {
    for answer in ["y", "c"] {
      let sandbox = try Sandbox.withVault(unlocked: true)
      defer { sandbox.close() }
      let terminal = try Self.lockedWhileTyping(sandbox)
      terminal.type("hunter3")
      try terminal.expect("vault: the vault was locked by `vault lock`; \(Self.why)")
      try terminal.expect("Vault password: ")
      terminal.control("c")
      try terminal.expect(Self.canceled)
      // Neither does typing it again.
      for question in [Self.question, Self.question] {
        try terminal.expect(question)
        terminal.type("e")
        try terminal.expect("Value of `x`: ")
        terminal.control("c")
        try terminal.expect(Self.canceled)
      }
      try terminal.expect(Self.question)
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      if answer == "y" { terminal.type("y") } else { terminal.control("c") }
      if answer == "c" { try terminal.expect(Self.interrupted) }
      #expect(try terminal.wait() == (answer == "y" ? 0 : 130), "\(terminal.screen)")
      #expect(terminal.isCooked && !terminal.screen.contains("hunter3"))
      #expect(try sandbox.run("get", "x").output == (answer == "y" ? "hunter3" : ""))
    }
  }

  @Test("while nothing is asked, a signal that ends the command is told with the loss", arguments: [true, false])
  func ended(isTyped: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.typedOnce(sandbox)
    try sandbox.signalDaemon(SIGSTOP)
    terminal.type("hunter3")
    try terminal.expect("waiting for the daemon, which does not answer")
    if isTyped { terminal.control("c") } else { terminal.signal(SIGTERM) }
    try terminal.expect(Self.interrupted)
    #expect(try terminal.wait() == (isTyped ? 130 : 143))
    #expect(terminal.isCooked)
    try sandbox.signalDaemon(SIGCONT)
  }

  @Test("a terminal that control-S has stopped does not delay that end") func stoppedOutput() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.lockedWhileTyping(sandbox)
    terminal.type("hunter3")
    try terminal.expect("Vault password: ")
    terminal.stopOutput()
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("a daemon that does not answer is told of, and takes the value once it runs again") func silent() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.typedOnce(sandbox)
    try sandbox.signalDaemon(SIGSTOP)
    terminal.type("hunter3")
    try terminal.expect("waiting for the daemon, which does not answer")
    try sandbox.signalDaemon(SIGCONT)
    try terminal.expect("\r\u{1B}[K")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == "hunter3")
  }

  @Test("where the name was taken meanwhile, the value replaces the other or gets another name", arguments: ["r", "a"])
  func taken(answer: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.typedOnce(sandbox)
    try sandbox.must(["set", "x"], stdin: "theirs")
    terminal.type("hunter3")
    try terminal.expect("vault: `x` already exists\r\n")
    try terminal.expect(Self.taken)
    if answer == "r" {
      terminal.type("r")
      try terminal.expect("vault: stored `x`, version 2")
    } else {
      terminal.type("a")
      try terminal.expect("Another name: ")
      terminal.control("c")
      for (name, said) in [("a//b", "vault: `a//b` is not a valid item name"), ("web", "vault: `web` already exists")] {
        try terminal.expect(Self.taken)
        terminal.type("a")
        try terminal.expect("Another name: ")
        terminal.type(name)
        try terminal.expect(said)
      }
      try terminal.expect(Self.taken)
      terminal.type("a")
      try terminal.expect("Another name: ")
      terminal.type("y")
      try terminal.expect("vault: stored `y`, version 1")
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", answer == "r" ? "x" : "y"]) == "hunter3")
    #expect(try sandbox.must(["get", "x", "--version", "1"]) == "theirs")
  }

  @Test("a replacement that was refused is no consent for the next attempt") func refusedReplacement() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Self.typedOnce(sandbox)
    try sandbox.must(["set", "x", "--use", "ssh", "--generate", "ed25519", "--never-read"])
    terminal.type("hunter3")
    try terminal.expect("vault: `x` already exists\r\n")
    try terminal.expect(Self.taken)
    terminal.type("r")
    try terminal.expect("vault: `x` is a key that is never read")
    try terminal.expect(Self.taken)
    try sandbox.must(["rm", "x"])
    try sandbox.must(["set", "x"], stdin: "theirs")
    terminal.type("y")
    try terminal.expect("vault: `x` already exists\r\n")
    try terminal.expect(Self.taken)
    terminal.type("n")
    #expect(try terminal.wait() == 73)
    #expect(try sandbox.must(["get", "x"]) == "theirs")
  }

  @Test("an item to update that is gone meanwhile is made anew only when that is wanted", arguments: ["y", "a", "n"])
  func gone(answer: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "web", "--update"])
    try terminal.expect("Value of `web`: ")
    terminal.type("hunter3")
    try terminal.expect("Again: ")
    try sandbox.must(["mv", "web", "elsewhere"])
    terminal.type("hunter3")
    try terminal.expect("vault: no item `web` any more")
    try terminal.expect(Self.missing)
    terminal.type(answer)
    if answer == "a" {
      try terminal.expect("Another name: ")
      terminal.type("elsewhere")
      // An item that has the name is not replaced unasked.
      try terminal.expect("vault: `elsewhere` already exists")
      try terminal.expect(Self.taken)
      #expect(try sandbox.must(["get", "elsewhere"]) == "hunter2")
      terminal.type("r")
    }
    #expect(try terminal.wait() == (answer == "n" ? 66 : 0))
    let values = ["web", "elsewhere"].map { name in (try? sandbox.run("get", name).output) ?? "" }
    #expect(values == ["y": ["hunter3", "hunter2"], "a": ["", "hunter3"], "n": ["", "hunter2"]][answer])
  }

  @Test("a sealed deposit is written once its file can be") func deposit() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (folder, aside) = (sandbox.home + "/out", sandbox.home + "/aside")
    try #require(unsafe mkdir(folder, 0o700) == 0)
    try sandbox.write(try sandbox.must(["show-key"]), to: "key")
    let terminal = try Terminal(
      sandbox, ["deposit", "x", "--seal", "--key", sandbox.home + "/key", "--output", folder + "/box"])
    try terminal.expect("Value of `x`: ")
    terminal.type("hunter3")
    try terminal.expect("Again: ")
    try #require(unsafe rename(folder, aside) == 0)
    terminal.type("hunter3")
    try terminal.expect(Self.question)
    try #require(unsafe rename(aside, folder) == 0)
    terminal.type("y")
    #expect(try terminal.wait() == 0)
    try sandbox.must(["deposit", "--sealed", folder + "/box"])
    #expect(try sandbox.must(["get", "x"]) == "hunter3")
  }

  @Test("an empty line is refused before it is typed again") func empty() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x"])
    try terminal.expect("Value of `x`: ")
    terminal.type("")
    try terminal.expect("a password cannot be empty")
    #expect(!terminal.screen.contains("Again: "))
    try terminal.expect(Self.refused)
    terminal.type("e")
    for question in ["Value of `x`: ", "Again: "] {
      try terminal.expect(question)
      terminal.type("hunter3")
    }
    #expect(try terminal.wait() == 0)
    let update = try Terminal(sandbox, ["set", "x", "--update"])
    try update.expect("Value of `x`: ")
    update.type("")
    #expect(try update.wait() == 65)
    #expect(!update.screen.contains("Again: "))
    // A value that may be empty is typed twice like any other.
    let blob = try Terminal(sandbox, ["set", "blob", "--kind", "blob"])
    for question in ["Value of `blob`: ", "Again: "] {
      try blob.expect(question)
      blob.type("")
    }
    #expect(try blob.wait() == 0)
  }
}
