import Foundation

/// Copies of one vault, for the tests that need just any vault.
extension Sandbox {
  /// The files of the store of a vault that nobody has unlocked yet, by their names. The vault is made once in this
  /// process, by the first test that asks for it. The files are kept here and not in a folder, because a folder that
  /// outlives its test counts as left behind.
  private static let copied: Result<[String: Data], any Error> = Result {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeStore(password: "correct horse battery")
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: sandbox.store) {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: sandbox.store + "/" + name))
    }
    return files
  }

  /// Puts a vault into a sandbox that has none, and starts its daemon, which is cold. The result is that of
  /// ``makeVault(password:config:recovery:parameters:environment:)`` with the password `correct horse battery`, without
  /// a second daemon and a key derivation.
  ///
  /// All of these vaults have the same identity and keys. A test that compares two vaults, brings one into another,
  /// looks for keys in memory, sets a clock, or is about what makes a vault makes its own.
  public func copyVault(config: String? = nil) throws {
    try FileManager.default.createDirectory(
      atPath: store, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for (name, contents) in try Self.copied.get() {
      guard
        FileManager.default.createFile(
          atPath: store + "/" + name, contents: contents, attributes: [.posixPermissions: 0o600])
      else { throw SandboxError("\(store)/\(name) cannot be written") }
    }
    try startDaemon(config: config)
  }
}
