import Foundation

/// The files that an earlier release wrote, in Tests/Upgrades.
public struct EarlierVault: CustomStringConvertible, Sendable {
  public let folder: String
  public var description: String { (folder as NSString).lastPathComponent }

  public static let all: [EarlierVault] = {
    let root = Repository.root.appending(path: "Tests/Upgrades").path
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return entries.filter { $0.first?.isNumber == true }.sorted().map { EarlierVault(folder: root + "/" + $0) }
  }()

  /// Settings that let nothing in the stores expire.
  public static let config = "idle = off\ntrash = 36500d\naudit-age = off\n"

  public func path(_ file: String) -> String { folder + "/" + file }

  /// Puts a copy of one of the stores into a sandbox that has none.
  public func copy(_ store: String, into sandbox: Sandbox) throws {
    try FileManager.default.copyItem(atPath: path(store), toPath: sandbox.store)
    // Set the modes, because git does not keep them.
    for folder in ["", "/rekey"] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: sandbox.store + folder)) ?? []
      for name in names {
        let mode = name == "rekey" ? 0o700 : 0o600
        try FileManager.default.setAttributes(
          [.posixPermissions: mode], ofItemAtPath: sandbox.store + folder + "/" + name)
      }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: sandbox.store)
  }
}
