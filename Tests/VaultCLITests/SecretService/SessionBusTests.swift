import Foundation
import Glibc
import Testing
import VaultTesting

/// A session whose bus starts the daemon, and at whose bus a daemon does not look by itself.
private final class SessionStand {
  let sandbox: Sandbox
  let bus: PrivateBus

  /// - Parameter name: the socket of the bus; the usual place is `run/bus`.
  init(_ name: String = "elsewhere") throws {
    sandbox = try Sandbox()
    do {
      let services = sandbox.root + "/services"
      try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: true)
      let text = """
        [D-BUS Service]
        Name=\(OtherKeyring.name)
        Exec=\(Sandbox.path(of: "vaultd")) --activated --log file

        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(services)/\(OtherKeyring.name).service"))
      bus = try PrivateBus(.session, in: sandbox, at: "\(sandbox.root)/\(name)", services: services)
      try sandbox.configure(SecretServiceStand.settings)
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { sandbox.close() }

  func makeVault() throws { try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n") }

  /// The log of a daemon that the bus has started.
  var log: String { (try? String(contentsOfFile: sandbox.root + "/state/vault/log", encoding: .utf8)) ?? "" }

  /// Asks for the default collection, as programs do first.
  func readAlias() throws -> String {
    do {
      return try bus.call(
        OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "ReadAlias", "s", "default")
    } catch { throw SandboxError("\(error)\n\(log)\n\(sandbox.daemonLog)") }
  }

  /// The process that owns the name; nil if none does.
  func owner() throws -> Int32? {
    let driver = "org.freedesktop.DBus"
    let answer = try? bus.call(driver, "/", driver, "GetConnectionUnixProcessID", "s", OtherKeyring.name)
    return answer.flatMap { Int32($0.dropFirst(2)) }
  }

  func standing() throws -> WireClient.Reply { try sandbox.client().call("SecretService") }

  func join(_ address: String) throws -> WireClient.Reply { try sandbox.client().call("JoinBus", ["address": address]) }
}

private let login = #"o "/org/freedesktop/secrets/collection/login""#

@Suite("A daemon and the session bus") struct SessionBusTests {
  @Test("a bus starts a locked daemon for the name, which answers without an unlock") func activation() throws {
    let stand = try SessionStand("run/bus")
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    try stand.sandbox.stopDaemon()
    #expect(try stand.readAlias() == login)
    #expect(try stand.sandbox.must(["status", "--json"]).contains(#""state":"cold""#))
    #expect(try stand.standing().parameters["activatable"] as? Bool == true)
  }

  @Test("the portal's call that starts the daemon waits for an unlock, as later ones do") func portal() throws {
    let stand = try SessionStand("run/bus")
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    try stand.sandbox.stopDaemon()
    let script = """
      import os, subprocess, sys, time, dbus, dbus.bus, dbus.lowlevel
      bus = dbus.bus.BusConnection(sys.argv[1])
      bus.request_name('org.freedesktop.portal.Desktop', 4)
      path = '/org/freedesktop/portal/desktop'
      message = dbus.lowlevel.MethodCallMessage(
        'org.freedesktop.secrets', path, 'org.freedesktop.impl.portal.Secret', 'RetrieveSecret')
      read, write = os.pipe()
      values = (path + '/request/1', 'org.example.A', dbus.types.UnixFd(write), dbus.Dictionary({}, signature='sv'))
      message.append(*values, signature='osha{sv}')
      bus.send_message(message)
      bus.flush()
      os.close(write)
      del message, values
      unlock = ['vault', 'unlock', '--password-stdin']
      while subprocess.run(unlock, input=sys.argv[2] + '\\n', text=True, capture_output=True).returncode:
        time.sleep(0.05)
      print(len(os.read(read, 65536)))
      """
    let outcome = try stand.sandbox.run("-c", script, stand.bus.address, password, program: "/usr/bin/python3")
    #expect(outcome.output == "64\n", "\(outcome)\(stand.log)")
  }

  @Test("a daemon without a bus is given that of a program that asks, and leaves it with the session")
  func joining() throws {
    let stand = try SessionStand()
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    #expect(try stand.sandbox.must(["status"]).contains("no session bus, so desktop programs do not find this"))
    let daemon = try #require(stand.sandbox.daemonPid)
    #expect(try stand.readAlias() == login)
    #expect(try stand.owner() == daemon)
    #expect(try stand.sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
    // The daemon that the bus has started is gone, and said nothing.
    try wait(for: "its end") { stand.sandbox.processes(mentioning: "--activated").isEmpty }
    #expect(stand.log == "")
    #expect(try stand.standing().string("bus")?.contains("/elsewhere") == true)
    let entries = try stand.sandbox.must(["audit", "--action", "settings", "--json"])
    #expect(entries.contains(#""outcome":"ok""#) && entries.contains("/elsewhere") && entries.contains("session bus"))
    stand.bus.stop()
    try wait(for: "the end of the bus") { try stand.standing().parameters["connected"] as? Bool == false }
    #expect(try stand.standing().string("bus")?.contains("/elsewhere") == false)
    // The next session has another bus at the same place.
    try stand.bus.start()
    #expect(try stand.readAlias() == login)
    #expect(try stand.owner() == daemon)
  }

  @Test("a bus starts a daemon whose settings are wrong, too, and that vault stays locked until they are right")
  func wrongSettings() throws {
    let stand = try SessionStand("run/bus")
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    try stand.sandbox.stopDaemon()
    try stand.sandbox.configure("hide-names = true\n\(SecretServiceStand.settings)idel = 5m\n")
    #expect(try stand.readAlias() == login)
    let words = "the vault stays locked until its settings file is corrected"
    #expect(stand.log.contains(words))
    #expect(try stand.sandbox.must(["status"]).contains(words))
    func unlock() throws -> Outcome {
      try stand.sandbox.run(["unlock", "--password-stdin"], stdin: Array("\(password)\n".utf8))
    }
    let refused = try unlock()
    #expect(refused.status == 78 && refused.errors.contains("\(words); the file was refused"), "\(refused)")
    #expect(try stand.sandbox.run("reload").status == 78)
    #expect(try unlock().status == 78)
    try stand.sandbox.configure("hide-names = true\n\(SecretServiceStand.settings)idle = 3m\n")
    #expect(try stand.sandbox.must(["reload"]).contains("idle"))
    #expect(try unlock().status == 0)
    #expect(try !stand.sandbox.must(["status"]).contains(words))
  }

  @Test("several programs that ask at once get one daemon") func together() throws {
    let stand = try SessionStand()
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let addresses = Array(repeating: stand.bus.address, count: 5)
    let clients = try addresses.map { address in
      let client = try stand.sandbox.client()
      try client.begin("JoinBus", ["address": address])
      return client
    }
    for client in clients { #expect(try client.reply().error == nil) }
    #expect(try stand.owner() == stand.sandbox.daemonPid)
  }

  @Test("a daemon on another bus keeps it, and the one that is started says why") func another() throws {
    let stand = try SessionStand()
    let own = try PrivateBus(.session, in: stand.sandbox)
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    try wait(for: "the name") { try stand.standing().parameters["owner"] != nil }
    #expect(throws: (any Error).self) { try stand.readAlias() }
    #expect(stand.log.contains("does not serve this session: this daemon is connected to another session bus"))
    #expect(try stand.owner() == nil)
    #expect(try stand.join(stand.bus.address).error == "Busy")
    #expect(try stand.join(own.address).error == nil)
  }

  @Test("a daemon that lost the name to another program takes it when a program asks after that one's end")
  func again() throws {
    let stand = try SessionStand("run/bus")
    let other = try stand.bus.mock(
      OtherKeyring.name, [OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"])
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let named = "process \(other.pid) (python3) owns \(OtherKeyring.name)"
    try wait(for: "the message") { stand.sandbox.daemonLog.contains(named) }
    #expect(try stand.sandbox.must(["status"]).contains("warning:    \(named)"))
    #expect(try stand.standing().string("problem")?.hasPrefix(named) == true)
    other.stop()
    try wait(for: "the news") { try stand.standing().string("problem")?.contains("and is gone") == true }
    #expect(try stand.owner() == nil)
    #expect(try stand.readAlias() == login)
    #expect(try stand.owner() == stand.sandbox.daemonPid)
    #expect(try !stand.sandbox.must(["status"]).contains(OtherKeyring.name))
  }

  @Test("a bus whose name another program owns is refused") func taken() throws {
    let stand = try SessionStand()
    try stand.bus.mock(
      OtherKeyring.name, [OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"])
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let refused = try stand.join(stand.bus.address)
    #expect(refused.error == "Busy" && refused.string("reason")?.contains("(python3) owns") == true, "\(refused)")
  }

  @Test("the daemon that a bus starts ends at once if the settings do not want it") func off() throws {
    let stand = try SessionStand()
    try stand.sandbox.configure("secret-service = off\n")
    #expect(throws: (any Error).self) { try stand.readAlias() }
    let outcome = try stand.sandbox.run("--activated", program: "vaultd")
    #expect(outcome.status == 78 && outcome.errors.contains("secret-service is off in"), "\(outcome)")
    try stand.sandbox.startDaemon()
    #expect(try stand.join(stand.bus.address).error == "Misconfigured")
  }

  @Test("an address that is not one socket of this user's is refused") func addresses() throws {
    let stand = try SessionStand()
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let path = String(repeating: "a", count: 120)
    for address in [
      "", "tcp:host=127.0.0.1,port=1", "unixexec:path=/bin/sh", "autolaunch:", "unix:tmpdir=/tmp", "unix:path=run/bus",
      "unix:path=", "unix:path=/%", "unix:path=/%4", "unix:path=/%zz", "unix:path=/%00a", "unix:path=/\(path)",
      "unix:abstract=\(path)", "unix:path=/a b", "unix:path=/a\n", "unix:path=/a;unix:path=/b",
      "unix:path=/a" + String(repeating: ",x=y", count: 200),
    ] {
      #expect(try stand.join(address).error?.hasSuffix("InvalidParameter") == true, "\(address)")
    }
    for address in ["unix:path=/none", "unix:path=\(stand.sandbox.root)/services", "unix:abstract=vault-test-none"] {
      #expect(try stand.join(address).error == "Misconfigured", "\(address)")
    }
    // Something that listens and is no bus.
    #expect(try stand.join("unix:path=" + stand.sandbox.socket).error == "Misconfigured")
    #expect(try stand.owner() == nil)
    #expect(try stand.join(stand.bus.address).error == nil)
    #expect(try stand.owner() == stand.sandbox.daemonPid)
  }

  @Test(
    "another user's bus, and a program that is held to its grants, are refused",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func others() throws {
    let stand = try SessionStand()
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let name = "vault-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    let script = """
      import os, socket, sys, time
      os.setgid(65534); os.setuid(65534)
      listener = socket.socket(socket.AF_UNIX); listener.bind('\\0\(name)'); listener.listen()
      print('ready', flush=True); time.sleep(60)
      """
    let listener = Begun(stand.sandbox, ["-c", script], program: "/usr/bin/python3")
    try wait(for: "the listener") { try stand.join("unix:abstract=\(name)").error != "Misconfigured" }
    #expect(try stand.join("unix:abstract=\(name)").error == "Denied")
    withExtendedLifetime(listener) {}
    let path = Sandbox.path(of: "other-process")
    let program = try stand.sandbox.run(["-f", path], program: "/usr/bin/readlink").output
      .trimmingCharacters(in: .newlines)
    let grant = try Terminal(stand.sandbox, ["grant", "user:\(geteuid()),exe:\(program)", "web", "--can", "get"])
    try grant.expect("assword")
    grant.type(password)
    try #require(try grant.wait() == 0, "\(grant.screen)")
    let held = try OtherProcess(in: stand.sandbox).connect()
    for method in ["JoinBus", "SecretService"] {
      let parameters: WireClient.Message = method == "JoinBus" ? ["address": stand.bus.address] : [:]
      #expect(try held.call(method, parameters).error == "Denied", "\(method)")
    }
    #expect(try stand.owner() == nil)
  }

  @Test("a vault that keeps a key in the keyring at that name takes no such name before the slot is gone")
  func ownKeyring() throws {
    let stand = try SessionStand("run/bus")
    try stand.sandbox.configure("pam-service = vault-test-none\n")
    let keyring = try OtherKeyring(in: stand.sandbox, on: stand.bus)
    try stand.sandbox.startDaemon()
    try stand.makeVault()
    let secret = ["--password-stdin"]
    try stand.sandbox.must(["slot", "add", "pam", "--keystore", "keyring"] + secret, stdin: password + "\n")
    #expect(try keyring.count() == 1)
    let problem = "slot 2 keeps its key in the keyring at \(OtherKeyring.name), so this vault cannot be that keyring"
    let before = try String(contentsOfFile: stand.sandbox.configuration, encoding: .utf8)
    let refused = try stand.sandbox.run(["secret-service", "enable"])
    #expect(refused.status == 78 && refused.errors.contains(problem), "\(refused)")
    #expect(try String(contentsOfFile: stand.sandbox.configuration, encoding: .utf8) == before)
    try stand.sandbox.configure(SecretServiceStand.settings)
    try stand.sandbox.must(["reload"])
    try keyring.end()
    try wait(for: "the end of the keyring") { try stand.owner() == nil }
    try stand.sandbox.must(["reload"])
    #expect(try stand.sandbox.must(["status"]).contains("warning:    \(problem)"))
    #expect(stand.sandbox.daemonLog.contains("secret-service: \(problem)"))
    let reply = try stand.standing()
    #expect(reply.parameters["excluded"] as? Bool == true && reply.parameters["owner"] == nil, "\(reply)")
    #expect(try stand.join(stand.bus.address).error == "Misconfigured")
    #expect(throws: (any Error).self) { try stand.readAlias() }
    // A slot whose key is elsewhere is none of that.
    try stand.sandbox.configure(SecretServiceStand.settings + "keyring-bus-name = org.example.keyring\n")
    try stand.sandbox.must(["reload"])
    try wait(for: "the name") { try stand.owner() == stand.sandbox.daemonPid }
    try stand.sandbox.configure(SecretServiceStand.settings)
    try stand.sandbox.must(["reload"])
    try wait(for: "the name's end") { try stand.owner() == nil }
    try stand.sandbox.must(["slot", "remove", "2"] + secret, stdin: password + "\n")
    try wait(for: "the name") { try stand.owner() == stand.sandbox.daemonPid }
  }
}
