import Foundation
import Glibc
import Testing
import VaultTesting

/// A session with a bus, and a user's files as a desktop has them.
private final class DesktopStand {
  let sandbox: Sandbox
  let bus: PrivateBus

  init() throws {
    sandbox = try Sandbox()
    do {
      bus = try PrivateBus(.session, in: sandbox, services: sandbox.root + "/data/dbus-1/services")
      try sandbox.startDaemon(config: "pam-service = vault-test-none\n")
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { sandbox.close() }

  var autostart: String { "config/autostart/gnome-keyring-secrets.desktop" }
  var unit: String { "config/systemd/user/gnome-keyring-daemon.service" }

  func write(_ text: String, _ name: String) throws {
    let path = "\(sandbox.root)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  func read(_ name: String) throws -> String { try String(contentsOfFile: "\(sandbox.root)/\(name)", encoding: .utf8) }

  /// The user's files, each with its mode and its content, without the vault's own.
  func files() throws -> [String: String] {
    var files: [String: String] = [:]
    for folder in ["config", "data/dbus-1", "data/systemd"] {
      let root = "\(sandbox.root)/\(folder)"
      for name in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [] {
        let path = "\(root)/\(name)"
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        let mode = String((facts[.posixPermissions] as? Int ?? 0) & 0o777, radix: 8)
        let content =
          (try? FileManager.default.destinationOfSymbolicLink(atPath: path))
          ?? (try? String(contentsOfFile: path, encoding: .utf8)) ?? "folder"
        files["\(folder)/\(name)"] = "\(mode) \(content)"
      }
    }
    return files
  }

  func service(_ words: String...) throws -> Outcome { try sandbox.run(["secret-service"] + words) }
}

@Suite("vault secret-service") struct SecretServiceCommandTests {
  private static let settings = "# mine\r\npam-service = vault-test-none\r\n#secret-service = off\r\nidle = 5m"

  @Test("enable makes the vault the Secret Service, and disable restores every file") func roundTrip() throws {
    let stand = try DesktopStand()
    try stand.write(Self.settings, "config/vault/vaultd.conf")
    unsafe chmod(stand.sandbox.configuration, 0o640)
    try stand.write("[Desktop Entry]\nName=Mine\n", stand.autostart)
    try FileManager.default.createDirectory(
      atPath: "\(stand.sandbox.root)/config/systemd/user", withIntermediateDirectories: true)
    unsafe symlink("/mine", "\(stand.sandbox.root)/\(stand.unit)")
    try stand.write("[Unit]\n", "data/systemd/user/vault-agent.service")
    let before = try stand.files()
    let enabled = try stand.service("enable")
    #expect(enabled.status == 0, "\(enabled)")
    #expect(enabled.output.split(separator: "\n").allSatisfy { $0.hasPrefix("changed ") })
    let shown = "#secret-service = off\r\n"
    #expect(
      try stand.read("config/vault/vaultd.conf")
        == Self.settings.replacing(shown, with: "\(shown)secret-service = on\r\n"))
    #expect(try stand.files()["config/vault/vaultd.conf"]?.hasPrefix("640 ") == true)
    #expect(try stand.read(stand.autostart).contains("Hidden=true"))
    #expect(try stand.files()[stand.unit]?.hasSuffix("/dev/null") == true)
    let agent = "config/systemd/user/graphical-session.target.wants/vault-agent.service"
    #expect(try stand.files()[agent]?.hasSuffix("\(stand.sandbox.root)/data/systemd/user/vault-agent.service") == true)
    let status = try stand.service("status")
    #expect(status.status == 0, "\(status)")
    #expect(status.output.contains("this vault's daemon, process \(stand.sandbox.daemonPid ?? 0)"))
    // The bus starts another daemon as well.
    try stand.sandbox.stopDaemon()
    let path = try stand.bus.call(
      OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "ReadAlias", "s", "login")
    #expect(path == #"o "/org/freedesktop/secrets/collection/login""#)
    let again = try stand.service("enable")
    #expect(again.status == 0 && again.output == "everything is set up already\n", "\(again)")
    let disabled = try stand.service("disable")
    #expect(disabled.status == 0, "\(disabled)")
    #expect(try stand.files() == before)
    #expect(!FileManager.default.fileExists(atPath: stand.sandbox.root + "/state/vault/secret-service"))
    #expect(try stand.service("status").output.contains("door:        off"))
    #expect(try stand.service("disable").output == "nothing that `enable` has changed is left to undo\n")
    #expect(try stand.files() == before)
  }

  @Test("the unit that enable writes keeps others out as the daemon's own does, and comes back when it is killed")
  func unit() throws {
    let stand = try DesktopStand()
    #expect(try stand.service("enable").status == 0)
    let name = "data/systemd/user/vault-secret-service.service"
    let lines = Set(try stand.read(name).split(separator: "\n").map(String.init))
    let own = Repository.root.appending(path: "Sources/vaultd/user/vaultd.service")
    let service = try String(contentsOf: own, encoding: .utf8).split(separator: "\n").map(String.init)
      .drop(while: { $0 != "[Service]" }).prefix(while: { $0 != "[Install]" })
    let different = ["#", "Type=", "ExecStart=", "FileDescriptorStoreMax="]
    let shared = service.filter { line in !different.contains(where: line.hasPrefix) }
    #expect(shared.count > 15)
    for line in shared + ["RestartPreventExitStatus=69 73 78"] { #expect(lines.contains(line), "\(line)") }
    let analyze = "/usr/bin/systemd-analyze"
    guard FileManager.default.isExecutableFile(atPath: analyze) else { return }
    let verified = try stand.sandbox.run(
      "--user", "--man=no", "verify", "\(stand.sandbox.root)/\(name)", program: analyze)
    #expect(verified.status == 0 && verified.errors.isEmpty, "\(verified)")
  }

  @Test("without a file of settings, and without folders, nothing is left") func nothing() throws {
    let stand = try DesktopStand()
    try FileManager.default.removeItem(atPath: stand.sandbox.configuration)
    let before = try stand.files()
    #expect(try stand.service("enable").status == 0)
    #expect(try stand.read("config/vault/vaultd.conf") == "secret-service = on\n")
    #expect(try stand.service("disable").status == 0)
    #expect(try stand.files() == before)
  }

  @Test("what somebody has changed since stays, and is named") func later() throws {
    let stand = try DesktopStand()
    #expect(try stand.service("enable").status == 0)
    try stand.write("[Desktop Entry]\nHidden=false\n", stand.autostart)
    let conf = try stand.read("config/vault/vaultd.conf")
    try stand.write(conf.replacing("= on", with: "= off") + "idle = 3m\n", "config/vault/vaultd.conf")
    let disabled = try stand.service("disable")
    #expect(disabled.status == 0)
    for name in [stand.autostart, "config/vault/vaultd.conf"] {
      #expect(disabled.errors.contains("kept \(stand.sandbox.root)/\(name), which was changed since"), "\(disabled)")
    }
    #expect(try stand.read(stand.autostart) == "[Desktop Entry]\nHidden=false\n")
    #expect(try stand.read("config/vault/vaultd.conf").hasSuffix("secret-service = off\nidle = 3m\n"))
    // The files of now count as the user's own from now on.
    let before = try stand.files()
    #expect(try stand.service("enable").status == 0)
    #expect(try stand.service("disable").status == 0)
    #expect(try stand.files() == before)
  }

  @Test("a setting that the user made is left on, and said") func ownSetting() throws {
    let stand = try DesktopStand()
    try stand.write(SecretServiceStand.settings, "config/vault/vaultd.conf")
    let before = try stand.files()
    #expect(try stand.service("enable").status == 0)
    let disabled = try stand.service("disable")
    #expect(disabled.errors.contains("secret-service = on stays in"), "\(disabled)")
    #expect(try stand.files() == before)
  }

  @Test("another owner of the name is named, with what to do") func otherOwner() throws {
    let stand = try DesktopStand()
    let other = try stand.bus.mock(
      OtherKeyring.name, [OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"])
    let enabled = try stand.service("enable", "--without-copy")
    #expect(enabled.status == 75)
    #expect(enabled.errors.contains("process \(other.pid) (python3) still owns \(OtherKeyring.name)"), "\(enabled)")
    #expect(enabled.errors.contains("`kill \(other.pid)`"))
    let status = try stand.service("status")
    #expect(status.status == 65)
    #expect(status.output.contains("process \(other.pid) (python3), not this vault"), "\(status)")
    #expect(try stand.service("status", "--json").output.contains("\"own\":false"))
    other.stop()
    try stand.sandbox.must(["reload"])
    try wait(for: "the name") { try stand.service("status").status == 0 }
  }

  @Test("settings that the daemon refuses are named, and nothing is lost") func badSettings() throws {
    let stand = try DesktopStand()
    try stand.write("idel = 5m\n", "config/vault/vaultd.conf")
    let before = try stand.files()
    let enabled = try stand.service("enable")
    #expect(enabled.status == 78 && enabled.errors.contains("did you mean `idle`"), "\(enabled)")
    let text = try stand.read("config/vault/vaultd.conf")
    try stand.write(text.replacing("idel", with: "idle"), "config/vault/vaultd.conf")
    #expect(try stand.service("enable").status == 0)
    #expect(try stand.service("disable").status == 0)
    try stand.write("idel = 5m\n", "config/vault/vaultd.conf")
    #expect(try stand.files() == before)
  }

  @Test("the machine's vault, and one at another socket, are refused") func elsewhere() throws {
    let stand = try DesktopStand()
    let before = try stand.files()
    for command in ["enable", "disable"] {
      let system = try stand.service(command, "--system")
      #expect(system.status == 64 && system.errors.contains("the machine's vault has no session bus"), "\(system)")
      let other = try stand.service(command, "--socket", stand.sandbox.socket)
      #expect(other.status == 64 && other.errors.contains("at another socket are not known here"), "\(other)")
    }
    #expect(try stand.files() == before)
    #expect(try stand.service("status", "--socket", stand.sandbox.socket).status == 0)
  }

  @Test("disable undoes everything without a daemon, too") func noDaemon() throws {
    let stand = try DesktopStand()
    let before = try stand.files()
    #expect(try stand.service("enable").status == 0)
    try stand.sandbox.stopDaemon()
    #expect(try stand.service("status").status == 69)
    #expect(try stand.service("disable").status == 0)
    #expect(try stand.files() == before)
    #expect(stand.sandbox.daemonPid == nil)
  }

  /// Stores a secret by libsecret, in whatever keyring has the name.
  private func store(_ stand: DesktopStand, _ server: String, _ value: String) throws {
    let outcome = try stand.sandbox.run(
      ["store", "--label=\(server)", "server", server], program: "/usr/bin/secret-tool", stdin: Array(value.utf8))
    #expect(outcome.status == 0, "\(outcome)")
  }

  private func lookup(_ stand: DesktopStand, _ server: String) throws -> String {
    try stand.sandbox.run(["lookup", "server", server], program: "/usr/bin/secret-tool").output
  }

  @Test("the keys of another keyring are copied first, and stay there", .timeLimit(.minutes(5)))
  func copied() throws {
    let stand = try DesktopStand()
    let keyring = try OtherKeyring(in: stand.sandbox, on: stand.bus)
    for number in 1...3 { try store(stand, "host\(number)", "value\(number)") }
    func python(_ script: String) throws -> Outcome {
      try stand.sandbox.run("-B", "-c", TransferStand.functions + script, program: "/usr/bin/python3")
    }
    let made = try python(
      """
      work = collection('Work')
      item(work, 'w', {'server': 'work'}, b'at work')
      service.SetAlias('default', work)
      """)
    try #require(made.status == 0, "\(made)")
    let enabled = try stand.service("enable")
    #expect(enabled.status == 75 && enabled.errors.contains("still owns \(OtherKeyring.name)"), "\(enabled)")
    #expect(enabled.output.contains("3 items copied") && enabled.output.contains("1 item copied"), "\(enabled)")
    #expect(try keyring.count() == 3)
    try keyring.end()
    try stand.sandbox.must(["reload"])
    try wait(for: "the name") { try stand.service("status").status == 0 }
    for number in 1...3 { #expect(try lookup(stand, "host\(number)") == "value\(number)") }
    #expect(try lookup(stand, "work") == "at work")
    // The default collection there is the default one here.
    let kept = try python("print(get(service.ReadAlias('default'), 'Collection', 'Label'))")
    #expect(kept.output == "Work\n", "\(kept)")
  }

  @Test("on a terminal, the other keyring is ended at the end, with what programs have stored there meanwhile")
  func takenOver() throws {
    let stand = try DesktopStand()
    let keyring = try OtherKeyring(in: stand.sandbox, on: stand.bus)
    try store(stand, "host", "value")
    let terminal = try Terminal(stand.sandbox, ["secret-service", "enable"])
    try terminal.expect("Add a slot for the login password?")
    try store(stand, "later", "too")
    terminal.type("n")
    try terminal.expect("End it now, so that this vault takes its place?")
    terminal.type("y")
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(try stand.service("status").status == 0)
    for (server, value) in [("host", "value"), ("later", "too")] { #expect(try lookup(stand, server) == value) }
    withExtendedLifetime(keyring) {}
  }

  /// Makes the file by which the bus starts GNOME Keyring, with its login keyring unlocked.
  private func offerKeyring(_ stand: DesktopStand) throws {
    let script = "printf pw | exec gnome-keyring-daemon --foreground --components=secrets --unlock"
    try stand.write(
      "[D-BUS Service]\nName=\(OtherKeyring.name)\nExec=/bin/sh -c '\(script)'\n",
      "data/dbus-1/services/org.freedesktop.secrets.service")
  }

  @Test(
    "a keyring that the bus starts only for the copy is ended again, without a question", .timeLimit(.minutes(5)),
    arguments: [[], ["--json"]])
  func startedForCopy(options: [String]) throws {
    let stand = try DesktopStand()
    try offerKeyring(stand)
    let enabled = try stand.sandbox.run(["secret-service", "enable"] + options)
    #expect(enabled.status == 0 && !enabled.errors.contains("still owns"), "\(enabled)")
    if !options.isEmpty { #expect(enabled.output.contains(#""owned":true"#), "\(enabled)") }
    try wait(for: "its end") { stand.sandbox.processes(mentioning: "gnome-keyring-daemon").isEmpty }
    #expect(try stand.service("status").status == 0)
    try store(stand, "host", "value")
    #expect(try lookup(stand, "host") == "value")
  }

  @Test("a keyring that was there before the copy is not ended without a question") func startedBefore() throws {
    let stand = try DesktopStand()
    try offerKeyring(stand)
    try store(stand, "host", "value")
    let enabled = try stand.service("enable")
    #expect(enabled.status == 75 && enabled.errors.contains("still owns \(OtherKeyring.name)"), "\(enabled)")
    #expect(try stand.service("status").output.contains("(gnome-keyring-d), not this vault"))
  }

  @Test("an offer of a slot that is accepted and then given up ends nothing else") func slotGivenUp() throws {
    let stand = try DesktopStand()
    let keyring = try OtherKeyring(in: stand.sandbox, on: stand.bus)
    let terminal = try Terminal(stand.sandbox, ["secret-service", "enable"])
    try terminal.expect("Add a slot for the login password?")
    terminal.type("y")
    try terminal.expect("Vault password to add a slot: ")
    terminal.type("\u{4}", return: false)
    try terminal.expect("vault: no slot was added; `vault slot add login` adds it later")
    try terminal.expect("End it now, so that this vault takes its place?")
    terminal.type("y")
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(try stand.service("status").status == 0)
    withExtendedLifetime(keyring) {}
  }

  @Test("a keyring that cannot be read keeps everything as it is") func unreadable() throws {
    let stand = try DesktopStand()
    let keyring = try OtherKeyring(in: stand.sandbox, on: stand.bus)
    try store(stand, "host", "value")
    try keyring.lock()
    let before = try stand.files()
    let enabled = try stand.service("enable")
    let loss = "--without-copy leaves them there, and a browser then loses its cookies and logins"
    #expect(enabled.status != 0 && enabled.errors.contains(loss), "\(enabled)")
    #expect(try !enabled.output.contains("set up") && stand.files() == before, "\(enabled)")
    let help = try stand.service("enable", "--help").output.split(whereSeparator: \.isWhitespace)
    #expect(help.joined(separator: " ").contains("and loses the cookies and logins that it has encrypted"), "\(help)")
  }

  @Test("disable tells how to copy back whichever program has the name, and without a daemon") func elsewhereNow()
    throws
  {
    let stand = try DesktopStand()
    let hint = "`vault export --to secret-service` copies what programs have stored here"
    for hasDaemon in [true, false] {
      #expect(try stand.service("enable").status == 0)
      try store(stand, "host", "value")
      try stand.sandbox.stopDaemon()
      let other = try stand.bus.mock(
        OtherKeyring.name, [OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"])
      if hasDaemon {
        try stand.sandbox.startDaemon()
        try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      }
      let disabled = try stand.service("disable")
      #expect(disabled.status == 0 && disabled.errors.contains(hint), "\(disabled)")
      other.stop()
    }
    #expect(try !stand.service("disable").errors.contains(hint))
  }

  @Test("settings that the daemon does not read are named, and nothing is changed") func otherSettings() throws {
    let stand = try DesktopStand()
    let before = try stand.files()
    let elsewhere = stand.sandbox.root + "/elsewhere"
    let outcome = try stand.sandbox.run(["secret-service", "enable"], environment: ["XDG_CONFIG_HOME": elsewhere])
    #expect(
      outcome.status == 78 && outcome.errors.contains("and not from `\(elsewhere)/vault/vaultd.conf`"), "\(outcome)")
    #expect(try stand.files() == before)
    #expect(!FileManager.default.fileExists(atPath: elsewhere))
  }

  @Test("without a session bus nothing is changed, unless a person forgoes the copy") func noBus() throws {
    let stand = try DesktopStand()
    stand.bus.stop()
    try wait(for: "the news") { try stand.service("status").output.contains("unknown without a bus") }
    let before = try stand.files()
    let outcome = try stand.service("enable")
    #expect(
      outcome.status == 69 && outcome.errors.contains("nothing was changed, because the present keys"), "\(outcome)")
    #expect(outcome.errors.contains("there is no session bus"), "\(outcome)")
    #expect(try stand.files() == before)
    let forgone = try stand.service("enable", "--without-copy")
    #expect(forgone.status == 75 && forgone.errors.contains("connected to no session bus"), "\(forgone)")
    #expect(try stand.service("disable").status == 0)
    #expect(try stand.files() == before)
  }

  @Test("what programs have stored is copied back to the keyring that the bus starts again") func copiedBack() throws {
    let stand = try DesktopStand()
    try offerKeyring(stand)
    let before = try stand.files()
    let enabled = try stand.service("enable", "--without-copy")
    #expect(enabled.status == 0, "\(enabled)")
    try store(stand, "host", "value")
    let terminal = try Terminal(stand.sandbox, ["secret-service", "disable"])
    try terminal.expect("Copy what programs have stored here to the keyring that takes its place?")
    terminal.type("y")
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(try stand.files() == before)
    #expect(try lookup(stand, "host") == "value")
    #expect(try stand.service("status").output.contains("(gnome-keyring-d), not this vault"))
  }
}
