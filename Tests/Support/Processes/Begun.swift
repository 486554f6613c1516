import Foundation
import Synchronization

/// A program that runs beside the test, without a terminal, until its outcome is needed.
public final class Begun: Sendable {
  private let end = DispatchSemaphore(value: 0)
  private let result = Mutex<Result<Outcome, any Error>?>(nil)

  /// Starts `program` in the sandbox; see ``Sandbox/run(_:program:stdin:environment:seconds:)``.
  public init(_ sandbox: Sandbox, _ arguments: [String], program: String = "vault", stdin: String = "") {
    Thread.detachNewThread { [self] in
      let outcome = Result { try sandbox.run(arguments, program: program, stdin: Array(stdin.utf8)) }
      result.withLock { $0 = outcome }
      end.signal()
    }
  }

  /// Waits for the end of the program. Call this once.
  public func outcome() throws -> Outcome {
    end.wait()
    return try result.withLock { $0 }!.get()
  }
}

/// Checks a condition again and again, without a pause, until it holds.
///
/// - Throws: ``SandboxError`` after a minute.
public func wait(for what: String, until isSo: () throws -> Bool) throws {
  let deadline = DispatchTime.now() + 60
  while try !isSo() { if DispatchTime.now() > deadline { throw SandboxError("waited in vain for \(what)") } }
}
