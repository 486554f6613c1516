import Foundation
import Glibc
import VaultProcess

/// Another Secret Service on a private session bus: GNOME Keyring, with its login keyring unlocked.
public final class OtherKeyring: Sendable {
  public static let name = "org.freedesktop.secrets"
  private static let service = "/org/freedesktop/secrets"

  private let sandbox: Sandbox
  private let bus: PrivateBus
  private let child: Child

  /// Starts the keyring, and returns when it has its name on the bus.
  public init(in sandbox: Sandbox, on bus: PrivateBus) throws {
    self.sandbox = sandbox
    self.bus = bus
    let log = sandbox.root + "/keyring.log"
    let input = try Child.pipe()
    do {
      defer { Glibc.close(input.read) }
      child = try sandbox.keep(
        Child(
          "/usr/bin/gnome-keyring-daemon", ["--foreground", "--components=secrets", "--unlock"],
          environment: sandbox.environment(with: ["DBUS_SESSION_BUS_ADDRESS": bus.address]),
          descriptors: [
            .ours(input.read), .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT),
          ]))
    }
    let password = Array("the other keyring's".utf8)
    _ = unsafe write(input.write, password, password.count)
    Glibc.close(input.write)
    while try bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", Self.name) != "b true"
    {
      guard child.status == nil else {
        throw SandboxError("gnome-keyring-daemon: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
      }
    }
  }

  /// Ends the keyring, and returns once its name is free.
  public func end() throws {
    child.signal(SIGTERM)
    guard child.wait(seconds: 10) != nil else { throw SandboxError("gnome-keyring-daemon did not end") }
  }

  /// Stops the keyring, so that it answers nothing until ``resume()``.
  public func pause() { child.signal(SIGSTOP) }
  public func resume() { child.signal(SIGCONT) }

  /// Locks the login keyring.
  public func lock() throws {
    try bus.call(
      Self.name, Self.service, "org.freedesktop.Secret.Service", "Lock", "ao", "1", Self.service + "/collection/login")
  }

  /// The number of items in the login keyring.
  public func count() throws -> Int { try items().count }

  /// The label and the attributes of the keyring's first item, as busctl prints them.
  public func description() throws -> String {
    guard let first = try items().first else { throw SandboxError("there is no item") }
    let item = "org.freedesktop.Secret.Item"
    return try ["Label", "Attributes"].map { try property($0, item, of: first) }.joined(separator: "\n")
  }

  /// The paths of the keyring's items.
  private func items() throws -> [String] {
    let list = try property("Items", "org.freedesktop.Secret.Collection", of: Self.service + "/collection/login")
    return list.split(separator: " ").dropFirst(2).map { $0.trimmingCharacters(in: ["\""]) }
  }

  private func property(_ name: String, _ interface: String, of path: String) throws -> String {
    let outcome = try sandbox.run(
      ["--address=" + bus.address, "get-property", Self.name, path, interface, name], program: "/usr/bin/busctl")
    guard outcome.status == 0 else { throw SandboxError("\(name): \(outcome)") }
    return outcome.output.trimmingCharacters(in: .newlines)
  }
}
