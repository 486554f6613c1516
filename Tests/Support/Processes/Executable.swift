import Foundation

/// A program that a test writes.
public enum Executable {
  /// Writes a program that its owner alone can start, and at once.
  ///
  /// A separate program copies the text into place. If this process wrote the file itself, a child that it begins to
  /// start at the same moment would have the file open until the child runs its own program, and a file that is open
  /// for writing cannot be started (ETXTBSY).
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
