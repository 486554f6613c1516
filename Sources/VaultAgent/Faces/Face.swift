internal import VaultWire

/// A way in which a person is asked: a terminal, pinentry, desktop notifications or a command.
///
/// It asks one question at a time, on the thread that calls it, and gives up as soon as the question is withdrawn. All text
/// in a question has come through ``Printable``, and each face escapes it for the language that it speaks.
protocol Face: AnyObject {
  /// Its word in the settings, in `Status` and in the audit log.
  var name: FaceName { get }
  /// True when a secret can be typed there.
  var takesSecrets: Bool { get }
  /// Puts a question and waits for the answer.
  ///
  /// - Throws: what keeps it from asking; the next face is tried then.
  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer
  /// Shows a question that is answered elsewhere, such as with a finger, until ``clear()`` or the next question; returns at once.
  ///
  /// - Parameter dismissed: raised when the person does not want to answer.
  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError)
  /// Takes back what ``show(_:dismissed:)`` shows.
  func clear()
  /// Tells of something that wants no answer; false where it cannot. May be called from another thread than the others.
  func tell(_ notice: Notice) -> Bool
}

/// The faces by their words.
enum FaceName: String, CaseIterable {
  case terminal, pinentry, notification, command
}

/// The obstacle that keeps a face from asking.
enum FaceError: Error, Equatable {
  /// It is not there, or went away; the reason is for the journal.
  case unavailable(String)
  /// It cannot put a question of this kind.
  case unsuitable
  /// The question was taken back.
  case withdrawn
}

/// Something that a person should hear of.
struct Notice: Equatable {
  let title: String
  let text: String
  /// True when it should stay until it is seen.
  let isUrgent: Bool
}
