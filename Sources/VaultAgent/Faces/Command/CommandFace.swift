internal import Glibc
internal import Synchronization
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// Asks through the user's own program, which reads the question as JSON and writes the answer.
///
/// The program gets no arguments, and no shell stands between: text from others reaches only its standard input. The
/// first line that the program writes is the answer. The program ends with 0 when there is an answer, and with 1 when
/// the person does not want to answer.
final class CommandFace: Face {
  let name = FaceName.command
  let takesSecrets = true
  /// The absolute path of the program.
  private let program: String
  private var shown: Shown?
  /// The lock that is held while a notice is shown, so that notices that come meanwhile start no program.
  private let telling = Mutex(())

  /// Milliseconds that the program may take for a notice.
  private static let noticeTime: Int32 = 5000

  init(program: String) { self.program = program }

  deinit { clear() }

  var obstacle: String? { unsafe access(program, X_OK) == 0 ? nil : "\(program): \(SystemText.of(errno))" }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    if question.kind == .presence { throw .unsuitable }
    let run = try CommandRun(program, CommandQuestion.json(question))
    let end = try run.wait(until: withdrawal)
    switch end {
    case 0: return try Self.answer(run.line, to: question.kind)
    case 1: return .dismissed
    default: throw .unavailable("the command ended with \(end)")
    }
  }

  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError) {
    clear()
    shown = try Shown(CommandRun(program, CommandQuestion.json(question)), dismissed)
  }

  func clear() {
    shown?.end()
    shown = nil
  }

  func tell(_ notice: Notice) -> Bool {
    telling.withLockIfAvailable { _ in
      do throws(FaceError) {
        let run = try CommandRun(program, CommandQuestion.json(notice))
        return try run.wait(until: nil, milliseconds: Self.noticeTime) == 0
      } catch {
        return false
      }
    } ?? false
  }

  /// - Parameter line: the program's first line, moved into the answer only if it is a secret or typed text.
  private static func answer(_ line: consuming SecretBuffer?, to kind: Question.Kind) throws(FaceError) -> Answer {
    guard let line else { throw .unavailable("the command ended with 0 and without an answer") }
    switch kind {
    case .secret, .visible:
      guard isText(line) else { throw .unavailable("the command wrote something that is not UTF-8 text") }
      return .typed(line)
    case .choice:
      if matches(line, "yes") { return .yes }
      if matches(line, "no") { return .no }
    case .approval(let session):
      if matches(line, "once") { return .once }
      if session, matches(line, "session") { return .session }
      if matches(line, "always") { return .always }
      if matches(line, "deny") { return .no }
    case .presence: break
    }
    // The message does not quote the line, because the line may be a secret.
    throw .unavailable("the command wrote an answer that was not offered")
  }

  private static func matches(_ line: borrowing SecretBuffer, _ word: StaticString) -> Bool {
    line.withBytes { bytes in
      bytes.byteCount == word.utf8CodeUnitCount
        && (0..<bytes.byteCount).allSatisfy {
          // The line and the word have the same length.
          unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == word.utf8Start[$0]
        }
    }
  }

  private static func isText(_ line: borrowing SecretBuffer) -> Bool {
    line.withBytes { bytes in
      let span = Span<UInt8>(_bytes: bytes)
      return (try? UTF8Span(validating: span)) != nil
    }
  }

  /// A running program that shows a question which is answered elsewhere. A separate thread watches the program.
  private final class Shown {
    private let over: Withdrawal
    private var thread: WorkThread?

    init(_ run: CommandRun, _ dismissed: Withdrawal) throws(FaceError) {
      do throws(Withdrawal.Errno) { over = try Withdrawal() } catch {
        throw .unavailable("eventfd: \(SystemText.of(error.code))")
      }
      let over = over
      // From here on only the thread uses the run.
      thread = WorkThread { if (try? run.wait(until: over)) == 1 { dismissed.raise() } }
      if thread == nil { throw .unavailable("cannot start a thread") }
    }

    func end() {
      over.raise()
      thread?.join()
      thread = nil
    }
  }
}
