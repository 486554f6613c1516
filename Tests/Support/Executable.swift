import Foundation

/// A program that a test writes.
public enum Executable {
  /// Writes a program that can be started at once, by its owner alone.
  ///
  /// Another program copies it: one that this process begins to start just while it writes the file itself has that open
  /// until it runs something else, and what is open for writing does not start (ETXTBSY).
  public static func write(_ text: String, to path: String) throws {
    let draft = path + ".draft"
    try text.write(toFile: draft, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: draft) }
    let install = try Process.run(
      URL(fileURLWithPath: "/usr/bin/install"), arguments: ["-m", "700", draft, path])
    install.waitUntilExit()
    guard install.terminationStatus == 0 else { throw SandboxError("\(path) cannot be written") }
  }
}
