internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A line on a person's terminal that tells what a command waits for, until the line is removed.
struct WaitingLine: ~Copyable {
  /// True if standard error is a terminal.
  static var isRead: Bool { Keyboard.isAttended }

  init(_ text: String) {
    // A line that wraps could not be removed.
    let most = Keyboard.size(of: STDERR_FILENO).columns - 1
    Self.put("\r\u{1B}[K\(TextWidth.cut(Printable.line(text), to: most))")
  }

  deinit { Self.put("\r\u{1B}[K") }

  /// Writes to the terminal. Nobody waits for a terminal that control-S has stopped.
  private static func put(_ text: String) {
    try? Output.write(unsafe text.utf8.span.bytes, to: STDERR_FILENO, .none)
  }

  /// Returns the text for a call that was refused with `fault`; nil if waiting does not help.
  static func text(for fault: Fault) -> String? {
    switch fault {
    // The call goes on to wait for an approval, if it needs one.
    case .locked: "waiting for an unlock, and for an approval if one is needed"
    case .presenceRequired(let name, let require):
      "waiting for a person: \(Printable.quoted(name)) requires \(Clauses.required(require))"
    case .denied(_, let request?): "waiting for an administrator to approve request \(request)"
    default: nil
    }
  }
}

/// The line that tells a person that the daemon does not answer, while it does not.
final class SilenceLine {
  private var line: WaitingLine?

  func show(_ isSilent: Bool) {
    line = nil
    if isSilent { line = WaitingLine("waiting for the daemon, which does not answer") }
  }
}

extension Session {
  /// Makes a call that waits, and meanwhile tells a person what it waits for.
  ///
  /// - Parameter now: the same call without waiting; its refusal tells the reason.
  func waiting<R: ~Copyable>(
    now: (Vault) throws -> R, call: (Vault) throws -> R
  ) throws(Failure) -> R {
    var fault: Fault?
    do {
      return try self.call { vault in
        do { return try now(vault) } catch ClientError.fault(let met) {
          fault = met
          throw ClientError.fault(met)
        }
      }
    } catch {
      guard let text = fault.flatMap({ WaitingLine.text(for: $0) }) else { throw error }
      let line = WaitingLine(text)
      defer { withExtendedLifetime(line) {} }
      return try self.call { try call($0) }
    }
  }
}
