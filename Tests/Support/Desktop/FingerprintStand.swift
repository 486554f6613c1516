import CLinux
import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A real fprintd on a private system bus, with a socket as its reader: each connection to the socket is a touch.
///
/// The reader is libfprint's virtual device (`FP_VIRTUAL_DEVICE`); polkit is a mock that permits everything.
public final class FingerprintStand: Sendable {
  public let bus: PrivateBus
  private let sandbox: Sandbox
  private let service = Mutex<Child?>(nil)
  private var reader: String { sandbox.root + "/reader" }

  /// The environment variable with which a program finds this fprintd, as `NAME=value`.
  public var variable: String { "DBUS_SYSTEM_BUS_ADDRESS=" + bus.address }

  /// Starts the bus, polkit and fprintd.
  ///
  /// - Parameter hasReader: False if fprintd is to answer that there is no device.
  public init(in sandbox: Sandbox, hasReader: Bool = true) throws {
    self.sandbox = sandbox
    // Users other than root must be able to reach the bus in the folder.
    unsafe chmod(sandbox.root, 0o711)
    bus = try PrivateBus(.system, in: sandbox)
    let polkit = "org.freedesktop.PolicyKit1"
    try bus.mock(polkit, ["--template", "polkitd"])
    try bus.call(
      polkit, "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.DBus.Mock", "AllowUnknown", "b", "true")
    try start(hasReader: hasReader)
  }

  /// The output of fprintd so far.
  public var log: String { (try? String(contentsOfFile: sandbox.root + "/fprintd.log", encoding: .utf8)) ?? "" }

  /// Removes the reader; enrolled fingers are kept.
  public func unplug() throws {
    let child = service.withLock { $0 }
    child?.signal(SIGKILL)
    _ = child?.wait()
    while try isRunning() {}
    try start(hasReader: false)
  }

  /// Stops fprintd, so that it answers nothing until ``resume()``.
  public func pause() { service.withLock { $0?.signal(SIGSTOP) } }
  public func resume() { service.withLock { $0?.signal(SIGCONT) } }

  /// True if fprintd has its name on the bus.
  private func isRunning() throws -> Bool {
    try bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", "net.reactivated.Fprint")
      == "b true"
  }

  private func start(hasReader: Bool) throws {
    let prints = sandbox.root + "/prints"
    try FileManager.default.createDirectory(atPath: prints, withIntermediateDirectories: true)
    var changes: [String: String?] = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": prints]
    if hasReader { changes["FP_VIRTUAL_DEVICE"] = sandbox.root + "/reader" }
    let log = sandbox.root + "/fprintd.log"
    let child = try sandbox.keep(
      Child(
        "/usr/libexec/fprintd", ["--no-timeout"], environment: sandbox.environment(with: changes),
        descriptors: [
          .null, .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT),
        ]))
    service.withLock { $0 = child }
    while try !isRunning() {
      guard child.status == nil else {
        throw SandboxError("fprintd: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
      }
    }
  }

  /// Enrolls `print` as the user's `finger`, such as `right-index-finger`.
  public func enrol(_ user: String, finger: String = "right-index-finger", print: String) throws {
    let output = try Child.pipe()
    defer { Glibc.close(output.read) }
    let child: Child
    do {
      defer { Glibc.close(output.write) }
      child = try sandbox.keep(
        Child(
          "/usr/bin/fprintd-enroll", ["-f", finger, user],
          environment: sandbox.environment(with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]),
          descriptors: [.null, .ours(output.write), .ours(output.write)]))
    }
    var text = ""
    var touches = 0
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(output.read, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
      // fprintd-enroll asks for the first touch and, after each stage, for the next one.
      let wanted = text.components(separatedBy: "Enrolling").count + text.components(separatedBy: "stage-passed").count
      while touches < wanted - 2 {
        touches += 1
        try touch(print)
      }
    }
    guard child.wait() == 0 else { throw SandboxError("fprintd-enroll: \(text)") }
  }

  /// Removes the user's enrolled fingers.
  public func forget(_ user: String) throws {
    let outcome = try sandbox.run(
      user, program: "/usr/bin/fprintd-delete", environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
    guard outcome.status == 0 else { throw SandboxError("fprintd-delete: \(outcome)") }
  }

  /// Touches the reader, which must be waiting for a touch, with `print`.
  public func touch(_ print: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(reader.utf8)) }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { Glibc.close(descriptor) }
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let command = Array("SCAN \(print)".utf8)
    guard connected == 0, unsafe send(descriptor, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else {
      throw SandboxError("the reader does not listen: \(errno)")
    }
  }
}
