import Foundation
import Glibc
import VaultProcess

/// A message bus of one sandbox. It has no service directories unless a test gives it one, so nothing on it starts by
/// itself.
public final class PrivateBus: Sendable {
  /// The two buses that a program may look for.
  public enum Kind: String, Sendable {
    case system, session
  }

  public let kind: Kind
  /// The bus's socket, at the path where the sandbox's programs look for that bus.
  public let socket: String
  let sandbox: Sandbox
  private let services: String?
  private let daemon = Running()
  /// The file of the bus's settings, which the bus reads again when its method `ReloadConfig` is called.
  public var configuration: String { "\(sandbox.root)/\(kind.rawValue)-bus.conf" }

  /// The address in the form `unix:path=…`.
  public var address: String { "unix:path=" + socket }

  /// Starts the bus and returns when it listens.
  ///
  /// - Parameters:
  ///   - socket: The bus's socket, if it is not to be found by itself.
  ///   - services: The folder of the files of services that the bus starts.
  public init(_ kind: Kind, in sandbox: Sandbox, at socket: String? = nil, services: String? = nil) throws {
    self.kind = kind
    self.sandbox = sandbox
    self.services = services
    self.socket = socket ?? (kind == .system ? sandbox.systemBus : sandbox.runtime + "/bus")
    try start()
  }

  /// Has the bus refuse all calls of one of its own methods from now on; nil for none.
  public func refuse(_ member: String?) throws {
    let bus = "org.freedesktop.DBus"
    try configure(
      member.map { "<deny send_destination='\(bus)' send_interface='\(bus)' send_member='\($0)'/>" } ?? "")
    try call(bus, "/org/freedesktop/DBus", bus, "ReloadConfig")
  }

  /// The rules of dbus-daemon's own settings for a session's bus, also answers that nobody waits for.
  private static let sessionRules = "<allow send_destination='*' eavesdrop='true'/> <allow eavesdrop='true'/>"

  private func configure(_ rules: String = "") throws {
    let text = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        \(services.map { "<type>\(kind.rawValue)</type> <servicedir>\($0)</servicedir>" } ?? "")
        <policy context="default">
          \(kind == .session ? Self.sessionRules : "<allow send_destination='*'/> <allow receive_sender='*'/>")
          <allow own="*"/> <allow user="*"/>
          \(rules)
        </policy>
      </busconfig>
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: configuration))
  }

  /// Starts the bus again after ``stop()``.
  public func start() throws {
    try configure()
    let ready = try Child.pipe()
    defer { Glibc.close(ready.read) }
    let log = "\(sandbox.root)/\(kind.rawValue)-bus.log"
    do {
      defer { Glibc.close(ready.write) }
      daemon.child = try sandbox.keep(
        Child(
          "/usr/bin/dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=3"],
          environment: sandbox.environment,
          descriptors: [
            .null, .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT),
            .ours(ready.write),
          ]))
    }
    // dbus-daemon prints its address once it listens.
    var byte: UInt8 = 0
    guard unsafe read(ready.read, &byte, 1) == 1 else {
      throw SandboxError("dbus-daemon: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
    }
  }

  /// Ends the bus and removes its socket, as the end of a session does.
  public func stop() {
    daemon.child?.signal(SIGTERM)
    _ = daemon.child?.wait()
    unsafe unlink(socket)
  }

  /// Ends the bus as if it had crashed: its socket remains.
  public func crash() {
    daemon.child?.signal(SIGKILL)
    _ = daemon.child?.wait()
  }

  /// Calls a method and returns the reply as `busctl` prints it.
  @discardableResult
  public func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String, _ arguments: String...
  ) throws -> String {
    let outcome = try sandbox.run(
      ["--address=" + address, "call", destination, path, interface, method] + arguments, program: "/usr/bin/busctl")
    guard outcome.status == 0 else { throw SandboxError("\(interface).\(method): \(outcome)") }
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Starts a service made with python3-dbusmock, and returns when it has its name.
  ///
  /// - Parameters:
  ///   - name: The well-known name that the service takes.
  ///   - arguments: The arguments of python-dbusmock: `--template logind`, or a name, a path and an interface.
  @discardableResult
  public func mock(_ name: String, _ arguments: [String]) throws -> Service {
    try program(name, "/usr/bin/python3", ["-u", "-m", "dbusmock", "--\(kind.rawValue)"] + arguments)
  }

  /// Starts a program that serves on the bus, and returns when it has its name.
  @discardableResult
  public func program(_ name: String, _ program: String, _ arguments: [String]) throws -> Service {
    let log = "\(sandbox.root)/\(name).log"
    let child = try sandbox.keep(
      Child(
        program, arguments,
        environment: sandbox.environment(with: ["DBUS_\(kind.rawValue.uppercased())_BUS_ADDRESS": address]),
        descriptors: [
          .null, .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT),
        ]))
    while try call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", name) != "b true" {
      guard child.status == nil else {
        throw SandboxError("\(name): \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
      }
    }
    return Service(child: child, logFile: log)
  }

  /// Makes a service of ``mock(_:_:)`` send a signal.
  ///
  /// - Parameter arguments: The arguments that `busctl` takes for the signature; each is sent as a variant.
  public func emit(
    _ name: String, _ path: String, _ interface: String, _ member: String, _ signature: String, _ arguments: String...
  ) throws {
    let values = zip(signature.map(String.init), arguments).flatMap { [$0, $1] }
    let outcome = try sandbox.run(
      [
        "--address=" + address, "call", name, path, "org.freedesktop.DBus.Mock", "EmitSignal", "sssav", interface,
        member, signature, String(arguments.count),
      ] + values, program: "/usr/bin/busctl")
    guard outcome.status == 0 else { throw SandboxError("emitting \(member): \(outcome)") }
  }

  /// Sends a signal from a connection without a name, and returns when the bus has passed it on.
  ///
  /// - Parameters:
  ///   - pid: The only process to receive the signal, regardless of match rules; nil for everybody.
  ///   - arguments: Python expressions.
  public func forge(
    _ path: String, _ interface: String, _ member: String, _ arguments: [String], to pid: Int32? = nil
  ) throws {
    let script = """
      import dbus, dbus.bus, dbus.lowlevel
      bus = dbus.bus.BusConnection('\(address)')
      driver = dbus.Interface(bus.get_object('org.freedesktop.DBus', '/'), 'org.freedesktop.DBus')
      targets = [None]
      if \(pid ?? 0):
        targets = [n for n in driver.ListNames() if n[0] == ':' and driver.GetConnectionUnixProcessID(n) == \(pid ?? 0)]
      assert targets
      for target in targets:
        message = dbus.lowlevel.SignalMessage('\(path)', '\(interface)', '\(member)')
        if target: message.set_destination(target)
        message.append(\(arguments.joined(separator: ", ")))
        bus.send_message(message)
      driver.GetId()
      """
    let outcome = try sandbox.run("-c", script, program: "/usr/bin/python3")
    guard outcome.status == 0 else { throw SandboxError("forging \(member): \(outcome)") }
  }

  /// A process that has a name on the bus.
  public struct Service: Sendable {
    let child: Child
    let logFile: String

    public var pid: Int32 { child.pid }

    /// The service's log; for a mock, the calls that it received and the signals that it sent so far.
    public var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

    /// Stops the service, so that it still exists but answers nothing more.
    public func pause() { child.signal(SIGSTOP) }

    /// Kills the service, which also frees its names on the bus.
    public func stop() {
      child.signal(SIGKILL)
      _ = child.wait()
    }
  }

  /// The bus's process, which changes with every start. Tests use a bus from one thread only.
  private final class Running: @unchecked Sendable {
    var child: Child?
  }
}
