import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault inject --watch beside other programs") struct KeptFileTests {
  // MARK: Simultaneous writes

  @Test("what a program writes at the moment of a writing lies beside the file", arguments: [false, true])
  func sudden(inPlace: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 2, "--exec", "echo ran")
    try terminal.expect("ran")
    try stand.set("111-11-111")
    let pid = try stand.stopped(terminal) {
      let text = stand.text("031-45-154", name: "other")
      if inPlace { try stand.overwrite(with: text) } else { try stand.replace(with: text) }
    }
    try terminal.expect("at the same moment; its text lies in \(stand.path("out.displaced"))")
    try terminal.expect("pin stands at line 2")
    try terminal.expect("ran")
    #expect(try stand.read() == stand.text("111-11-111"))
    #expect(try stand.read("out.displaced") == stand.text("031-45-154", name: "other"))
    #expect(try stand.mode("out.displaced") == 0o600)
    try wait(for: "the status") {
      try stand.sandbox.must(["status"]).contains("the text of another program lies in \(stand.path("out.displaced"))")
    }
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    // Once a person has removed the displaced file, `status` no longer mentions it.
    stand.remove("out.displaced")
    try wait(for: "the status") { try !stand.sandbox.must(["status"]).contains("displaced") }
    try stand.end(terminal, traced: pid)
  }

  @Test("--adopt takes what a program writes at the moment of a writing") func suddenAdopted() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 2, "--adopt")
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    let pid = try stand.stopped(terminal) { try stand.replace(with: stand.text("031-45-154", name: "other")) }
    try terminal.expect("has adopted the text outside the values")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111", name: "other"))
    #expect(try stand.read("t") == KeptStand.template.replacing("Homebridge", with: "other"))
    #expect(!stand.has("out.displaced"))
    #expect(try stand.leftovers.isEmpty)
    try stand.end(terminal, traced: pid)
  }

  @Test("a program that still writes to the file which was displaced loses nothing") func stillOpen() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 2)
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    var file: FileHandle?
    let pid = try stand.stopped(terminal) {
      file = try FileHandle(forWritingTo: URL(fileURLWithPath: stand.path("out")))
    }
    try terminal.expect("lies in")
    try #require(file).write(contentsOf: Data("late".utf8))
    try #require(file).close()
    #expect(try stand.read("out.displaced").hasPrefix("late"))
    #expect(try stand.read() == stand.text("111-11-111"))
    try stand.end(terminal, traced: pid)
  }

  @Test("a second text that comes at such a moment is put back, and the file is held") func suddenTwice() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 2)
    try terminal.expect("wrote")
    try stand.sandbox.write("an earlier one", to: "out.displaced")
    try stand.set("111-11-111")
    let pid = try stand.stopped(terminal) { try stand.replace(with: stand.text("031-45-154", name: "other")) }
    try terminal.expect("is held")
    #expect(try stand.read() == stand.text("031-45-154", name: "other"))
    #expect(try stand.read("out.displaced") == "an earlier one")
    #expect(try stand.leftovers.isEmpty)
    try stand.end(terminal, traced: pid)
  }

  @Test("a file that appears where none was makes room as one does that stood there at the start") func appears() throws
  {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 1)
    let pid = try stand.stopped(terminal) { try stand.sandbox.write("somebody's", to: "out") }
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read() == stand.text("031-45-154") && stand.read("out.displaced") == "somebody's")
    try stand.end(terminal, traced: pid)
  }

  @Test(
    "a text of the same size whose times were set back is another program's all the same", arguments: [false, true])
  func timesSetBack(overwrites: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try overwrites ? stand.begin("--overwrite") : stand.begin()
    try terminal.expect("wrote")
    var status = stat()
    #expect(unsafe stat(stand.path("out"), &status) == 0)
    let other = stand.text("031-45-154", name: "Homebrigde")
    try stand.overwrite(with: other)
    let times = [status.st_atim, status.st_mtim]
    #expect(unsafe utimensat(AT_FDCWD, stand.path("out"), times, 0) == 0)
    try terminal.expect("another program has written")
    try stand.set("111-11-111")
    try terminal.expect(overwrites ? "the file that was there before lies in" : "is held")
    #expect(try stand.read(overwrites ? "out.displaced" : "out") == other)
    try stand.end(terminal)
  }

  // MARK: Restarts

  @Test("another program's text stays over a restart and a new value, and no command runs, until --overwrite")
  func held() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.begin()
    try terminal.expect("wrote")
    let other = stand.text("031-45-154", name: "other")
    try stand.replace(with: other)
    try terminal.expect("another program has written")
    try stand.end(terminal)

    terminal = try stand.begin("--exec", "touch \(stand.path("ran"))")
    try terminal.expect("pin stands at line 2")
    try terminal.expect("\(stand.path("out")) is held")
    try stand.set("111-11-111")
    try wait(for: "the receipt") {
      try stand.sandbox.must(["receipts", "pin"]).contains("\t2\theld: “another program has written")
    }
    #expect(try stand.read() == other && !stand.has("out.displaced") && !stand.has("ran"))
    #expect(try stand.sandbox.must(["status"]).contains("\(stand.path("out")) is held"))
    #expect(try stand.sandbox.must(["receipts", "pin", "--json"]).contains(#""held":true"#))
    // The keeper reports the held file to the next daemon, too.
    try stand.sandbox.stopDaemon()
    try stand.sandbox.startDaemon()
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try wait(for: "the status") { try stand.sandbox.must(["status"]).contains("is held") }
    try stand.end(terminal)
    #expect(try !stand.sandbox.must(["status"]).contains("is held"))

    // The next keeper finds that the file still has the earlier value, and where.
    terminal = try stand.begin()
    try terminal.expect("pin stands at line 2")
    try wait(for: "the receipt") {
      let last = try stand.sandbox.must(["receipts", "pin"]).split(separator: "\n").first ?? ""
      return last.contains("\t2\theld: “another program has written") && last.hasSuffix("has version 1")
    }
    try stand.end(terminal)

    terminal = try stand.begin("--overwrite")
    try terminal.expect("the file that was there before lies in \(stand.path("out.displaced"))")
    #expect(try stand.read() == stand.text("111-11-111") && stand.read("out.displaced") == other)
    #expect(try stand.mode("out.displaced") == 0o600)
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    // While a displaced file exists, the next foreign text is held.
    let second = stand.text("111-11-111", name: "second")
    try stand.replace(with: second)
    try terminal.expect("it is overwritten once an item or the template has changed")
    try stand.set("222-22-222")
    try terminal.expect("is held, because another program has written it; examine \(stand.path("out.displaced"))")
    #expect(try stand.read() == second && stand.read("out.displaced") == other)
    stand.remove("out.displaced")
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read() == stand.text("222-22-222") && stand.read("out.displaced") == second)
    try stand.end(terminal)
  }

  @Test("its own file is written after a restart, whatever has changed meanwhile") func own() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.end(terminal)
    try stand.set("111-11-111")
    try stand.replace("t", with: KeptStand.template.replacing("Homebridge", with: "mine"))
    terminal = try stand.begin()
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111", name: "mine") && !stand.has("out.displaced"))
    // A file that another program wrote with the same text also counts as the keeper's own.
    try stand.replace(with: stand.read())
    try stand.end(terminal)
    try stand.end(stand.right())
    try stand.set("222-22-222")
    terminal = try stand.begin()
    try terminal.expect("wrote")
    #expect(!stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("--adopt takes what was held, also where a value has changed since") func adoptedLater() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    try terminal.expect("another program has written")
    try stand.set("111-11-111")
    try terminal.expect("is held")
    try stand.set("222-22-222")
    try stand.end(terminal)
    terminal = try stand.begin("--adopt")
    try terminal.expect("has adopted the text outside the values")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("222-22-222", name: "other"))
    #expect(try stand.read("t") == KeptStand.template.replacing("Homebridge", with: "other"))
    #expect(!stand.has("out.displaced"))
    try stand.end(terminal)
  }

  /// Makes another item and a template of both.
  private static func both(_ stand: KeptStand) throws {
    try stand.sandbox.must(["set", "key"], stdin: "first-key")
    try stand.sandbox.write("pin={{ vault \"pin\" }}\nkey={{ vault \"key\" }}\nport=1\n", to: "t")
  }

  @Test("--adopt takes a text with the present values also while the file is held, or before it was written with them")
  func presentValues() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try Self.both(stand)
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    try stand.replace(with: "pin=other\nkey=first-key\nport=1\n")
    try terminal.expect("has adopted none of it")
    try stand.sandbox.must(["set", "key", "--update"], stdin: "second-key")
    try terminal.expect("is held")
    try stand.replace(with: "pin=031-45-154\nkey=second-key\nport=2\n")
    try terminal.expect("has adopted the text outside the values")
    #expect(try stand.read("t") == "pin={{ vault \"pin\" }}\nkey={{ vault \"key\" }}\nport=2\n")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "key"]).contains("\t2\thas it") }

    let pid = terminal.pid
    kill(pid, SIGSTOP)
    try stand.sandbox.must(["set", "key", "--update"], stdin: "third-key")
    try stand.replace(with: "pin=031-45-154\nkey=third-key\nport=3\n")
    kill(pid, SIGCONT)
    try terminal.expect("has adopted the text outside the values")
    #expect(try stand.read("t").hasSuffix("port=3\n") && !terminal.screen.contains("r/key was changed"))
    try stand.end(terminal)
  }

  @Test("a held text of which some values are present and some are of an earlier version is taken, too")
  func mixedValues() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try Self.both(stand)
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    try stand.replace(with: "pin=other\nkey=first-key\nport=1\n")
    try terminal.expect("has adopted none of it")
    for key in ["second-key", "third-key"] { try stand.sandbox.must(["set", "key", "--update"], stdin: key) }
    try stand.set("111-11-111")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\theld") }
    try stand.replace(with: "pin=111-11-111\nkey=second-key\nport=2\n")
    try terminal.expect("has adopted the text outside the values")
    try wait(for: "the present values") { try stand.read() == "pin=111-11-111\nkey=third-key\nport=2\n" }
    try stand.end(terminal)
  }

  @Test("without --adopt a present value in a held text is told as there, by the message and by the receipt")
  func presentTold() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try Self.both(stand)
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.replace(with: "pin=other\nkey=first-key\n")
    try terminal.expect("pin was changed to another value, line 1")
    try stand.sandbox.must(["set", "key", "--update"], stdin: "second-key")
    try terminal.expect("is held")
    try stand.replace(with: "pin=another\nkey=second-key\n")
    try terminal.expect("pin was changed to another value, line 1")
    try terminal.expect("key stands at line 2")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "key"]).contains("\t2\thas it") }
    try stand.end(terminal)
  }

  @Test("--adopt takes what a program writes that has read the value from before, and gives it the new one")
  func behind() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    for (number, pin) in ["111-11-111", "222-22-222"].enumerated() {
      try stand.set(pin)
      try terminal.expect("wrote")
      try stand.replace(with: stand.text("031-45-154", name: "other \(number)"))
      try terminal.expect("has adopted the text outside the values")
      try terminal.expect("wrote")
      #expect(try stand.read() == stand.text(pin, name: "other \(number)"))
      #expect(try stand.read("t") == KeptStand.template.replacing("Homebridge", with: "other \(number)"))
    }
    #expect(!stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("what was undone, or written as it should be, is held no longer") func undone() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    for (pin, last) in [("111-11-111", "031-45-154"), ("222-22-222", "111-11-111")] {
      try stand.replace(with: "other")
      try terminal.expect("another program has written")
      try stand.set(pin)
      try terminal.expect("is held")
      try stand.replace(with: stand.text(last))
      try terminal.expect("wrote")
      #expect(try stand.read() == stand.text(pin))
    }
    try stand.replace(with: "other")
    try terminal.expect("another program has written")
    try stand.set("333-33-333")
    try terminal.expect("is held")
    try stand.replace(with: stand.text("333-33-333"))
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t4\thas it") }
    #expect(try !stand.sandbox.must(["status"]).contains("is held"))
    try stand.end(terminal)
  }

  /// A keeper that was ended while it held `other`, and the text that it had written before.
  private static func heldBefore(_ stand: KeptStand, _ other: String) throws -> String {
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    let own = try stand.read()
    try stand.replace(with: other)
    try terminal.expect("another program has written")
    try stand.set("111-11-111")
    try terminal.expect("is held")
    try stand.end(terminal)
    return own
  }

  @Test(
    "what was undone before a restart, or after it, is held no longer, although the value has changed since",
    arguments: [false, true], [[], ["--adopt"], ["--overwrite"]] as [[String]])
  func undoneAfterRestart(isLater: Bool, more: [String]) throws {
    // With either option, another program's text is not held.
    if isLater, !more.isEmpty { return }
    let stand = try KeptStand()
    defer { stand.close() }
    let own = try Self.heldBefore(stand, stand.text("031-45-154", name: "other"))
    if !isLater { try stand.replace(with: own) }
    let terminal = try Terminal(stand.sandbox, stand.arguments(more))
    if isLater {
      try terminal.expect("is held")
      try stand.replace(with: own)
    }
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && !stand.has("out.displaced"))
    #expect(try stand.read("t") == KeptStand.template)
    #expect(isLater || !terminal.screen.contains("another program has written"), "\(terminal.screen)")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    #expect(try !stand.sandbox.must(["status"]).contains("is held"))
    try stand.end(terminal)
  }

  @Test("what was undone while the vault is locked is held no longer once it is unlocked") func undoneLocked() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // No version has this value, so only the daemon can tell which one is put back.
    let own = try Self.heldBefore(stand, stand.text("999-99-999"))
    let terminal = try stand.begin()
    try terminal.expect("is held")
    try stand.sandbox.must(["lock"])
    try stand.replace(with: own)
    try terminal.expect("another program has written")
    #expect(try stand.read() == own)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test(
    "a value that a program has changed is no longer told as there, until it stands there again",
    arguments: [false, true])
  func changedValue(adopts: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin(adopts ? "--adopt" : "--json")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    for text in [stand.text("999-99-999"), "nothing\n"] {
      try stand.replace(with: text)
      let lost = "\t1\theld: “another program has changed it in \(stand.path("out"))”\n"
      try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).hasSuffix(lost) }
      try stand.replace(with: stand.text("031-45-154"))
      try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    }
    // A change of the text beside the value does not affect the value's receipt.
    try stand.replace(with: stand.text("999-99-999"))
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\theld") }
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    try stand.end(terminal)
  }

  @Test("a value that is gone is not told as there because the value from before is set again")
  func earlierValueAgain() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "other"], stdin: "stands")
    try stand.sandbox.write(KeptStand.template + "{{ vault \"other\" }}\n", to: "t")
    func waitForReceipt(_ text: String, of item: String = "pin") throws {
      try wait(for: "the receipt of \(item)") { try stand.sandbox.must(["receipts", item]).contains(text) }
    }
    let terminal = try stand.begin()
    try waitForReceipt("\t1\thas it")
    try stand.replace(with: "nothing\nstands\n")
    try waitForReceipt("\t1\theld")
    try stand.set("111-11-111")
    try waitForReceipt("\t2\theld")
    try stand.set("031-45-154")
    try waitForReceipt("\t3\theld: “another program has changed it in")
    try stand.set("031-45-154")
    try waitForReceipt("\t4\theld")
    // The file holds one value and lacks the other.
    try stand.sandbox.must(["set", "other", "--update"], stdin: "stands")
    try waitForReceipt("\t2\thas it", of: "other")
    #expect(try stand.read() == "nothing\nstands\n")
    try stand.replace(with: stand.text("031-45-154") + "stands\nand more\n")
    try waitForReceipt("\t4\thas it")
    try stand.set("031-45-154")
    try waitForReceipt("\t5\thas it")
    try stand.end(terminal)
  }

  @Test("a text with an older value that the template does not take has not the value of now") func olderValue() throws
  {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    // The value stands twice in the text, so nothing is adopted.
    try stand.replace(with: stand.text("031-45-154", name: "031-45-154"))
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\theld") }
    try stand.end(terminal)
  }

  // MARK: Further cases

  @Test("where two files cannot exchange their names, --watch refuses at its start, and inject goes on")
  func noExchange() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    for error in ["EINVAL", "ENOSYS"] {
      let terminal = try stand.traced(by: ["-e", "inject=renameat2:error=\(error)"], [])
      try terminal.expect("its file system cannot exchange two files")
      #expect(try terminal.wait() == 78)
      #expect(try stand.leftovers.isEmpty && !stand.has("out"))
    }
    let plain = try Terminal(
      stand.sandbox,
      [
        "-o", stand.path("trace"), "-e", "inject=renameat2:error=EINVAL", Sandbox.path(of: "vault"), "inject", "-i",
        stand.path("t"), "-o", stand.path("out"),
      ], program: "/usr/bin/strace")
    #expect(try plain.wait() == 0)
    #expect(try stand.read() == stand.text("031-45-154"))
  }

  @Test("of many programs' writings that meet a new value none is lost") func manyTries() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--overwrite")
    try terminal.expect("wrote")
    for number in 0..<20 {
      let mine = "number \(number)"
      let begun = Begun(stand.sandbox, ["-c", "printf 'a\(number)' | vault set pin --update"], program: "/bin/sh")
      try stand.replace(with: mine)
      #expect(try begun.outcome().status == 0)
      // The next value displaces the foreign text if the file still holds it, whichever text came first.
      try stand.set("b\(number)")
      try wait(for: "the new value") { try stand.read() == stand.text("b\(number)") }
      #expect(try stand.read("out.displaced") == mine)
      stand.remove("out.displaced")
    }
    try stand.end(terminal)
  }
}

extension KeptStand {
  /// Starts a keeper, and waits until its mark says that the file is right.
  fileprivate func right() throws -> Terminal {
    let terminal = try begin("--json")
    try wait(for: "the mark") {
      var status = stat()
      guard unsafe stat(path("out"), &status) == 0 else { return false }
      return try read(".out.vault-mark").contains("file \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) ")
    }
    return terminal
  }
}
