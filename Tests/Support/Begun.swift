import Foundation
import Synchronization

/// A program that runs beside the test until its outcome is wanted, without a terminal anywhere.
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

  /// Waits for its end. Call it once.
  public func outcome() throws -> Outcome {
    end.wait()
    return try result.withLock { $0 }!.get()
  }
}

/// Asks again and again, without a pause, until the condition holds.
///
/// - Throws: ``SandboxError`` after a minute.
public func wait(for what: String, until isSo: () throws -> Bool) throws {
  let deadline = DispatchTime.now() + 60
  while try !isSo() { if DispatchTime.now() > deadline { throw SandboxError("waited in vain for \(what)") } }
}
