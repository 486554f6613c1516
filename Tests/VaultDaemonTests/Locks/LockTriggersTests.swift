import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What locks the vault from outside") struct LockTriggersTests {
  private static let lockers = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.xfce.ScreenSaver"]
  private let allServed = ["when-unlocked", "after-first-unlock", "always"]

  @Test("sleep wipes all but the always keys under an inhibitor, which is taken again at the resume") func sleep()
    throws
  {
    let stand = try LockStand()
    try stand.expectHeld()
    #expect(try stand.served() == allServed)
    #expect(try stand.inhibitors().contains(#""sleep" "vault" "wipe the keys before the machine sleeps" "delay""#))
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    try stand.wait("the inhibitor's end") { try stand.inhibitors() == "a(ssssuu) 0" }
    #expect(try stand.served() == ["always"])
    try stand.expectWiped(afterFirstUnlock: true)
    try stand.prepareForSleep(false)
    try stand.wait("the next inhibitor") { try stand.inhibitors().contains("delay") }
    #expect(try stand.served() == ["always"])
    try stand.unlock()
    #expect(try stand.served() == allServed)
  }

  @Test(
    "the keys are wiped before the inhibitor is closed, and the disk is not waited for",
    .enabled(if: LockStand.isRoot, "needs root to trace a process that is not dumpable"))
  func order() throws {
    let stand = try LockStand()
    let pid = try #require(stand.sandbox.daemonPid)
    let inhibitor = try #require(try stand.inhibitor(of: pid))
    let trace = stand.sandbox.root + "/trace"
    // strace holds the daemon in the call that closes the inhibitor, and in no other, until the daemon's memory was
    // searched.
    let tracer = Process()
    tracer.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
    tracer.arguments = [
      "-y", "-P", try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(inhibitor)"), "-P",
      stand.sandbox.store + "/vault.db-wal", "-e", "trace=pwrite64,fdatasync,close", "-e",
      "inject=close:delay_enter=60000000", "-o", trace, "-p", "\(pid)",
    ]
    tracer.standardError = FileHandle.nullDevice
    try tracer.run()
    defer { tracer.waitUntilExit() }
    // strace holds back SIGTERM for as long as it delays a call.
    defer { kill(tracer.processIdentifier, SIGKILL) }
    let status = { (line: String) in
      try String(contentsOfFile: "/proc/\(pid)/\(line)", encoding: .utf8)
    }
    try stand.wait("the tracer") { try !status("status").contains("TracerPid:\t0") }
    try stand.prepareForSleep(true)
    // The number of the call comes first, then its arguments.
    let argument = Substring("0x" + String(inhibitor, radix: 16))
    try stand.wait("the inhibitor to be closed") {
      try status("syscall").split(separator: " ").dropFirst().first == argument
    }
    #expect(try stand.inhibitor(of: pid) == inhibitor)
    try stand.expectWiped(afterFirstUnlock: true, whileTraced: pid)
    let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let calls = lines.filter { $0.contains("-wal>") }
    #expect(calls.contains { $0.contains("pwrite64(") } && !calls.contains { $0.contains("fdatasync(") }, "\(calls)")
  }

  @Test("with keep-across-sleep only the when-unlocked keys go") func keepAcrossSleep() throws {
    let stand = try LockStand(config: "keep-across-sleep = true")
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    #expect(try stand.served() == ["after-first-unlock", "always"])
    try stand.expectWiped(afterFirstUnlock: false)
  }

  @Test("sleep also wipes what an earlier lock had kept") func sleepWhileLocked() throws {
    let stand = try LockStand()
    #expect(try stand.sandbox.client().call("Lock").error == nil)
    #expect(try stand.nextEvent() == "locked: by `vault lock`")
    #expect(try stand.served() == ["after-first-unlock", "always"])
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    #expect(try stand.served() == ["always"])
    try stand.expectWiped(afterFirstUnlock: true)
  }

  @Test("sleep cancels who has given a secret and waits for the key") func sleepWhileUnlocking() throws {
    let stand = try LockStand()
    let asking = try stand.sandbox.client()
    // The client proves the right to change the password, and is then asked for the new password.
    let first = try asking.call("ChangePassword", [:], more: true)
    let conversation = try #require(first.string("conversation"))
    let answer: WireClient.Message = ["conversation": conversation, "answer": stand.password]
    #expect(try stand.sandbox.client().call("Respond", answer).error == nil)
    #expect(try asking.reply().prompt?["style"] as? String == "new-secret")
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    #expect(try asking.reply().error == "Cancelled")
    try stand.expectWiped(afterFirstUnlock: true)
  }

  @Test("sleep gives up a vault that is being made, of which nothing stays in memory") func sleepWhileMaking() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let system = try PrivateBus(.system, in: sandbox)
    let logind = try system.mock("org.freedesktop.login1", ["--template", "logind"])
    try sandbox.startDaemon()
    let client = try sandbox.client()
    func inhibitors() throws -> String {
      try system.call("org.freedesktop.login1", LockStand.logindPath, LockStand.manager, "ListInhibitors")
    }
    func wait(_ isSo: () throws -> Bool) throws {
      let deadline = time(nil) + 60
      while time(nil) < deadline { if try isSo() { return } }
      throw SandboxError("waited in vain: \(sandbox.daemonLog)")
    }
    try wait { try inhibitors().contains("delay") }
    let password = KeyStage.word()
    let first = try client.call("Init", KeyStage.floor.merging(["recovery": true]) { $1 }, more: true)
    let conversation = try #require(first.string("conversation"))
    let answer: WireClient.Message = ["conversation": conversation, "answer": password]
    #expect(try sandbox.client().call("Respond", answer).error == nil)
    let code = try #require(try client.reply().prompt?["code"] as? String)
    func isInMemory() throws -> Bool {
      !(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(Array(code.utf8)).isEmpty)
    }
    if MemorySearch.isPossible { #expect(try isInMemory()) }
    try system.emit(
      "org.freedesktop.login1", LockStand.logindPath, LockStand.manager, "PrepareForSleep", "b", "true")
    try wait { try !inhibitors().contains("delay") }
    #expect(try client.reply().error == "Cancelled")
    if MemorySearch.isPossible { #expect(try !isInMemory()) }
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
    withExtendedLifetime(logind) {}
  }

  @Test("the lock of one's own session locks, and nobody else's", arguments: [false, true])
  func session(byHint: Bool) throws {
    let stand = try LockStand()
    func lock(_ id: String) throws {
      if byHint { try stand.callSession(id, "SetLockedHint", "true") } else { try stand.callSession(id, "Lock") }
    }
    func question(_ id: String) -> String {
      "Get /org/freedesktop/login1/session/\(id) org.freedesktop.login1.Session.User"
    }
    // The daemon does not ask for the user of a session that is not locked.
    try stand.callSession("own", "SetLockedHint", "false")
    try lock("other")
    // The next signal is sent after the reply with the session's user.
    try stand.wait("the daemon to ask whose session it is") { stand.logind.log.contains(question("other")) }
    #expect(!stand.logind.log.contains(question("own")))
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    try stand.prepareForSleep(false)
    try stand.unlock()
    try lock("own")
    #expect(try stand.nextEvent() == "locked: the session was locked")
    #expect(try stand.served() == ["after-first-unlock", "always"])
    try stand.expectWiped(afterFirstUnlock: false)
  }

  @Test("a session of which nobody says whose it is locks, too") func unknownSession() throws {
    let stand = try LockStand()
    let path = LockStand.logindPath + "/session/odd"
    // The session has no property that names its user.
    try stand.system.call(
      "org.freedesktop.login1", LockStand.logindPath, "org.freedesktop.DBus.Mock", "AddObject", "ssa{sv}a(ssss)", path,
      LockStand.session, "0", "0")
    try stand.system.emit("org.freedesktop.login1", path, LockStand.session, "Lock", "")
    #expect(try stand.nextEvent() == "locked: the session was locked")
  }

  @Test("an inhibitor that is given when the machine is on its way to sleep again does not hold it up")
  func lateInhibitor() throws {
    let stand = try LockStand()
    func asked() -> Int { stand.logind.log.components(separatedBy: #"Inhibit "sleep""#).count }
    let before = asked()
    try stand.prepareForSleep(true)
    try stand.wait("the inhibitor's end") { try stand.inhibitors() == "a(ssssuu) 0" }
    // The daemon reads both signals at once, and gets the inhibitor that it asked for at the first signal only after
    // the second.
    try stand.sandbox.signalDaemon(SIGSTOP)
    try stand.prepareForSleep(false)
    try stand.prepareForSleep(true)
    try stand.sandbox.signalDaemon(SIGCONT)
    try stand.wait("the daemon to ask for another one") { asked() == before + 1 }
    try stand.wait("its end") { try stand.inhibitors() == "a(ssssuu) 0" }
    #expect(try !stand.holdsInhibitor())
  }

  @Test("a screen locker that covers the screen locks", arguments: lockers) func screen(name: String) throws {
    let stand = try LockStand(lockers: [name])
    try stand.expectHeld()
    // A signal that the screen was uncovered does not lock.
    try stand.cover(name, false)
    try stand.cover(name)
    #expect(try stand.nextEvent() == "locked: the screen was locked (\(name))")
    #expect(try stand.served() == ["after-first-unlock", "always"])
    try stand.expectWiped(afterFirstUnlock: false)
  }

  @Test("a screen locker that covered the screen before the daemon could hear it locks", arguments: lockers)
  func coveredBefore(name: String) throws {
    let stand = try LockStand()
    // The daemon learns of the locker only once it can be asked.
    try stand.sandbox.signalDaemon(SIGSTOP)
    try LockStand.startLocker(name, isActive: true, on: stand.session)
    try stand.sandbox.signalDaemon(SIGCONT)
    #expect(try stand.nextEvent() == "locked: the screen was locked (\(name))")
    #expect(try stand.served() == ["after-first-unlock", "always"])
  }

  @Test("a screen locker that comes and does not cover the screen, or cannot be asked, locks nothing")
  func uncovered() throws {
    let stand = try LockStand()
    let (asked, other, mute) = ("org.gnome.ScreenSaver", "org.freedesktop.ScreenSaver", "org.xfce.ScreenSaver")
    try stand.sandbox.signalDaemon(SIGSTOP)
    for name in [asked, other] { try LockStand.startLocker(name, on: stand.session) }
    try stand.session.mock(mute, [mute, "/org/xfce/ScreenSaver", mute])
    try stand.sandbox.signalDaemon(SIGCONT)
    try stand.wait("the lockers to be heard") { try stand.locksOn().isSuperset(of: [asked, other, mute]) }
    #expect(try stand.served() == allServed)
    // Another event before this one would be a lock by an answer.
    try stand.cover(other)
    #expect(try stand.nextEvent() == "locked: the screen was locked (\(other))")
  }

  @Test("who does not own the name is not believed, even when it writes to the daemon alone") func forged() throws {
    let stand = try LockStand(lockers: Self.lockers)
    let pid = try #require(stand.sandbox.daemonPid)
    for target in [nil, pid] {
      try stand.system.forge(LockStand.logindPath, LockStand.manager, "PrepareForSleep", ["True"], to: target)
      try stand.session.forge(
        "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", "ActiveChanged", ["True"], to: target)
    }
    // The daemon believes only the signal that comes after the forged ones on the same bus.
    try stand.callSession("own", "Lock")
    #expect(try stand.nextEvent() == "locked: the session was locked")
    try stand.unlock()
    try stand.session.forge("/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", "ActiveChanged", ["True"], to: pid)
    try stand.cover("org.xfce.ScreenSaver")
    #expect(try stand.nextEvent() == "locked: the screen was locked (org.xfce.ScreenSaver)")
  }

  @Test("after a bus went away and came back its signals lock again") func reconnected() throws {
    let name = "org.gnome.ScreenSaver"
    let stand = try LockStand(lockers: [name])
    stand.session.stop()
    stand.system.stop()
    try stand.wait("the buses' end") { try stand.locksOn().isEmpty }
    let warnings = try stand.warnings()
    #expect(warnings.contains { $0.hasPrefix("no system bus, so a suspend") })
    #expect(warnings.contains { $0.hasPrefix("no session bus; ") })
    #expect(try stand.served() == allServed)

    try stand.system.start()
    try stand.restartLogind()
    try stand.wait("the inhibitor") { try stand.inhibitors().contains("delay") }
    try stand.session.start()
    try LockStand.startLocker(name, on: stand.session)
    try stand.wait("all to be heard") {
      try stand.locksOn() == ["sleep", "session-lock", name]
    }
    #expect(try stand.warnings().filter { $0.contains("bus") || $0.contains("logind") } == [])
    try stand.cover(name)
    #expect(try stand.nextEvent() == "locked: the screen was locked (\(name))")
    try stand.unlock()
    try stand.callSession("own", "Lock")
    #expect(try stand.nextEvent() == "locked: the session was locked")
    try stand.prepareForSleep(true)
    #expect(try stand.nextEvent() == "locked: the machine goes to sleep")
    try stand.wait("the inhibitor's end") { try stand.inhibitors() == "a(ssssuu) 0" }
  }

  @Test(
    "a session that was locked while nobody could say so locks when logind, or the bus, is back",
    arguments: [false, true])
  func caughtUp(withBus: Bool) throws {
    let stand = try LockStand()
    if withBus { stand.system.stop() } else { stand.logind.stop() }
    try stand.wait("logind's end") { try !stand.locksOn().contains("sleep") }
    let gone = withBus ? "no system bus, so" : "no logind on the system bus, so"
    #expect(try stand.warnings().contains { $0.hasPrefix(gone) })
    // The session is locked before the daemon looks. Without the bus, the daemon does not even get the signal about the
    // lock.
    try stand.sandbox.signalDaemon(SIGSTOP)
    if withBus { try stand.system.start() }
    try stand.restartLogind()
    try stand.callSession("own", "SetLockedHint", "true")
    try stand.sandbox.signalDaemon(SIGCONT)
    #expect(try stand.nextEvent() == "locked: the session was locked")
  }

  @Test("without any bus the daemon works, and says what it cannot hear") func noBus() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    #expect(try sandbox.unlock("correct horse battery")?.error == nil)
    let status = try sandbox.client().call("Status")
    let warnings = try sandbox.warnings()
    #expect(status.parameters["locks_on"] as? [String] == [])
    #expect(warnings.contains { $0.hasPrefix("no system bus, so a suspend is noticed only when the machine resumes") })
    #expect(warnings.contains("no session bus; let your screen locker run `vault lock`"))
  }

  @Test("a session bus without a screen locker is said to be silent") func noLocker() throws {
    let stand = try LockStand()
    #expect(
      try stand.warnings().contains(
        "no screen locker announces itself on the session bus; let your screen locker run `vault lock`"))
  }

  @Test("who is there is asked for again where the bus refused to say, and meanwhile nobody is said to be missing")
  func refusedQuestion() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let (system, session) = (try PrivateBus(.system, in: sandbox), try PrivateBus(.session, in: sandbox))
    try system.mock("org.freedesktop.login1", ["--template", "logind"])
    try LockStand.startLocker("org.gnome.ScreenSaver", on: session)
    for bus in [system, session] { try bus.refuse("GetNameOwner") }
    try sandbox.startDaemon()
    func wait(_ isSo: () throws -> Bool) throws {
      let deadline = time(nil) + 60
      while time(nil) < deadline { if try isSo() { return } }
      throw SandboxError("waited in vain: \(try sandbox.warnings()) \(sandbox.daemonLog)")
    }
    let doubts = ["logind is on the system bus: ", "a screen locker is on the session bus: "]
    try wait {
      let warnings = try sandbox.warnings()
      return doubts.allSatisfy { doubt in
        warnings.contains { $0.hasPrefix("it is not known whether \(doubt)Rejected send message") }
      }
    }
    for bus in [system, session] { try bus.refuse(nil) }
    try wait {
      let heard = try sandbox.client().call("Status").parameters["locks_on"] as? [String] ?? []
      return heard == ["sleep", "session-lock", "org.gnome.ScreenSaver"]
    }
    #expect(try !sandbox.warnings().contains { $0.contains("it is not known") })
  }

  @Test("logind that grants no delay is said to") func noInhibitor() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let system = try PrivateBus(.system, in: sandbox)
    // This mock of logind has the bus name but none of the methods.
    try system.mock("org.freedesktop.login1", ["org.freedesktop.login1", LockStand.logindPath, LockStand.manager])
    try sandbox.startDaemon()
    var warnings: [String] = []
    while !warnings.contains(where: { $0.hasPrefix("logind does not wait for the keys to be wiped") }) {
      warnings = try sandbox.warnings()
    }
  }

  @Test("the machine's vault hears of sleep alone") func systemMode() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let system = try PrivateBus(.system, in: sandbox)
    let session = try PrivateBus(.session, in: sandbox)
    try LockStand.startLocker("org.gnome.ScreenSaver", on: session)
    try system.mock("org.freedesktop.login1", ["--template", "logind"])
    try sandbox.startDaemon(
      arguments: ["--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", "/dev/null"])
    var heard: [String] = []
    while heard.isEmpty { heard = try sandbox.client().call("Status").parameters["locks_on"] as? [String] ?? [] }
    #expect(heard == ["sleep"])
  }
}
