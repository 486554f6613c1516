import Foundation

extension Sandbox {
  /// Compiles C code that is loaded into another program from outside, or that replaces a part of it. The compiler is
  /// the one that comes with Swift.
  ///
  /// - Parameter arguments: The compiler's arguments besides the source and the path of the result.
  public func compile(_ source: String, to path: String, _ arguments: [String]) throws {
    let built = try run(
      ["clang", "-o", path, "-x", "c", "-", "-x", "none"] + arguments, program: "/usr/bin/env",
      stdin: Array(source.utf8), environment: ["PATH": ProcessInfo.processInfo.environment["PATH"]])
    guard built.status == 0 else { throw SandboxError("\(path): \(built)") }
  }

  /// Compiles a library to load into a program.
  public func compileLibrary(_ source: String, to path: String, _ arguments: [String] = []) throws {
    try compile(source, to: path, ["-shared", "-fPIC"] + arguments)
  }
}
