/// The exit code and the output of a finished program.
public struct Outcome: Sendable, CustomStringConvertible {
  /// The exit code, or 128 plus the number of the signal that ended the program, as a shell reports it.
  public let status: Int32
  /// Standard output, byte for byte.
  public let stdout: [UInt8]
  /// Standard error, byte for byte.
  public let stderr: [UInt8]

  /// Standard output as text; invalid UTF-8 is replaced.
  public var output: String { String(decoding: stdout, as: UTF8.self) }
  /// Standard error as text; invalid UTF-8 is replaced.
  public var errors: String { String(decoding: stderr, as: UTF8.self) }

  public var description: String { "exit \(status)\nstdout: \(output)\nstderr: \(errors)" }
}

/// The reason that the test support gave up, with the output of the program up to then.
public struct SandboxError: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
