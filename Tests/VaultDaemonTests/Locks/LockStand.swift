import Foundation
import Glibc
import Testing
import VaultTesting

/// A daemon with an unlocked vault of three items, one of each class, and the buses and services that the daemon
/// listens to.
///
/// The name and the value of each item are the name of its class.
final class LockStand {
  static let isRoot = Root.isAtHand
  static let logindPath = "/org/freedesktop/login1"
  static let manager = "org.freedesktop.login1.Manager"
  static let session = "org.freedesktop.login1.Session"

  let sandbox: Sandbox
  let system, session: PrivateBus
  private(set) var logind: PrivateBus.Service
  let password = String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  private(set) var keys: KeyHierarchy
  private let events: WireClient

  /// - Parameters:
  ///   - lockers: the screen lockers that own their names on the session bus.
  ///   - sandbox: an existing sandbox to use; nil to make one.
  init(config: String = "", lockers: [String] = [], in sandbox: Sandbox? = nil) throws {
    let sandbox = try sandbox ?? Sandbox()
    self.sandbox = sandbox
    system = try PrivateBus(.system, in: sandbox)
    session = try PrivateBus(.session, in: sandbox)
    logind = try system.mock("org.freedesktop.login1", ["--template", "logind"])
    for name in lockers { try Self.startLocker(name, on: session) }
    _ = try sandbox.makeVault(password: password, config: "idle = off\n" + config)
    events = try sandbox.client()
    keys = try KeyHierarchy(of: sandbox, KeyHierarchy.Secrets(password: password))
    try addSession("own", uid: geteuid())
    try addSession("other", uid: geteuid() &+ 4711)
    _ = try events.call("Monitor", more: true)
    try unlock()
    let client = try sandbox.client()
    for name in ["when-unlocked", "after-first-unlock", "always"] {
      let set = try client.call("Set", ["name": name, "value": name, "accessible": name])
      if let error = set.error { throw SandboxError("Set: \(error)") }
      _ = try events.reply()
    }
    try wait("the daemon to hear what there is") {
      let heard = try locksOn()
      return heard.isSuperset(of: ["sleep", "session-lock"] + lockers)
    }
    try wait("the inhibitor") { try inhibitors().contains("delay") }
  }

  deinit { sandbox.close() }

  /// Starts a GNOME-like locker, which can be asked whether it is active.
  @discardableResult
  static func startLocker(
    _ name: String, isActive: Bool = false, on bus: PrivateBus
  ) throws -> PrivateBus.Service {
    let path = "/" + name.replacing(".", with: "/")
    let service = try bus.mock(name, [name, path, name])
    let answer = isActive ? "ret = True" : "ret = False"
    try bus.call(name, path, "org.freedesktop.DBus.Mock", "AddMethod", "sssss", name, "GetActive", "", "b", answer)
    return service
  }

  // MARK: External events

  func prepareForSleep(_ isStart: Bool) throws {
    try system.emit("org.freedesktop.login1", Self.logindPath, Self.manager, "PrepareForSleep", "b", "\(isStart)")
  }

  func callSession(_ id: String, _ method: String, _ arguments: String...) throws {
    let path = Self.logindPath + "/session/" + id
    switch arguments.count {
    case 0: try system.call("org.freedesktop.login1", path, Self.session, method)
    default: try system.call("org.freedesktop.login1", path, Self.session, method, "b", arguments[0])
    }
  }

  func cover(_ name: String, _ isActive: Bool = true) throws {
    try session.emit(name, "/" + name.replacing(".", with: "/"), name, "ActiveChanged", "b", "\(isActive)")
  }

  /// Returns the machine's inhibitors, as busctl prints them.
  func inhibitors() throws -> String {
    try system.call("org.freedesktop.login1", Self.logindPath, Self.manager, "ListInhibitors")
  }

  /// Returns true if the daemon holds an inhibitor according to the kernel: a pipe whose other end belongs to the
  /// mocked logind. The daemon has other pipes for the standard error of its helpers.
  func holdsInhibitor() throws -> Bool { try inhibitor(of: #require(sandbox.daemonPid)) != nil }

  /// Returns the daemon's descriptor of the inhibitor; nil if it holds none.
  func inhibitor(of pid: Int32) throws -> Int? {
    let others = try Set(Self.pipes(of: logind.pid).values)
    return try Self.pipes(of: pid).first { others.contains($0.value) }?.key
  }

  private static func pipes(of process: Int32) throws -> [Int: String] {
    let files = "/proc/\(process)/fd"
    var pipes: [Int: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: files) {
      guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: files + "/" + name) else { continue }
      if link.hasPrefix("pipe:"), let number = Int(name) { pipes[number] = link }
    }
    return pipes
  }

  func restartLogind() throws {
    logind = try system.mock("org.freedesktop.login1", ["--template", "logind"])
    try addSession("own", uid: geteuid())
  }

  private func addSession(_ id: String, uid: UInt32) throws {
    try system.call(
      "org.freedesktop.login1", Self.logindPath, "org.freedesktop.DBus.Mock", "AddSession", "ssusb", id, "seat0",
      "\(uid)", "user-\(id)", "true")
  }

  // MARK: The daemon's answers

  func unlock() throws {
    let reply = try sandbox.unlock(password)
    if let error = reply?.error { throw SandboxError("Unlock: \(error)") }
    _ = try nextEvent()
  }

  /// Waits for the next change of the state and returns it with its cause.
  func nextEvent() throws -> String {
    let event = try events.reply()
    return "\(event.string("state") ?? "none"): \(event.string("cause") ?? "none")"
  }

  func locksOn() throws -> Set<String> {
    Set(try sandbox.client().call("Status").parameters["locks_on"] as? [String] ?? [])
  }

  func warnings() throws -> [String] {
    try sandbox.warnings()
  }

  /// Returns the names of the items that are served now.
  func served() throws -> [String] {
    let client = try sandbox.client()
    return try ["when-unlocked", "after-first-unlock", "always"].filter {
      let reply = try client.call("Get", ["name": $0])
      guard reply.error == nil else {
        #expect(reply.error == "Locked")
        return false
      }
      return reply.string("value") == $0
    }
  }

  /// Polls without a pause until the condition holds, for at most 60 s.
  func wait(_ what: String, until isSo: () throws -> Bool) throws {
    let deadline = time(nil) + 60
    while time(nil) < deadline { if try isSo() { return } }
    throw SandboxError("waited in vain for \(what): \(sandbox.daemonLog)")
  }

  /// Expects exactly the keys that may be in the daemon's memory after a lock: without the keys of `after-first-unlock`
  /// if these were wiped too, and otherwise with them. Does nothing on machines where memory cannot be searched.
  ///
  /// - Parameter traced: the daemon's process if another process traces it, which excludes the registers from the
  ///   search; nil to search the running daemon.
  func expectWiped(afterFirstUnlock: Bool, whileTraced traced: Int32? = nil) throws {
    guard MemorySearch.isPossible else { return }
    let memory = try MemorySearch(pid: try traced ?? #require(sandbox.daemonPid), registers: traced == nil)
    let places = memory.find(keys.keys)
    #expect(Set(places.keys) == Set(afterFirstUnlock ? Held.asleep : Held.locked), "\(places)")
    #expect(memory.find(Array(password.utf8)) == [])
  }

  /// Expects all keys while the vault is unlocked: the positive control of ``expectWiped(afterFirstUnlock:)``.
  func expectHeld() throws {
    guard MemorySearch.isPossible else { return }
    let memory = try MemorySearch(pid: try #require(sandbox.daemonPid))
    #expect(Set(memory.find(keys.keys).keys) == Set(Held.unlocked))
  }
}
