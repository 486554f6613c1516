internal import VaultWire

/// A way to ask a person: a terminal, pinentry, desktop notifications or a command.
///
/// A face asks one question at a time, on the thread that calls it, and gives up as soon as the question is withdrawn.
/// All text in a question has passed through ``Printable``, and each face escapes it for its own output format.
protocol Face: AnyObject {
  /// The face's name in the settings, in `Status` and in the audit log.
  var name: FaceName { get }
  /// True when a secret can be typed on this face.
  var takesSecrets: Bool { get }
  /// The reason why the face could not ask at present, in words for a person; nil if nothing is known to prevent it.
  var obstacle: String? { get }
  /// Puts a question and waits for the answer.
  ///
  /// - Throws: the obstacle that keeps the face from asking; the next face is tried then.
  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer
  /// Shows a question that is answered elsewhere, such as with a finger, until ``clear()`` or the next question.
  /// Returns at once.
  ///
  /// - Parameter dismissed: raised when the person does not want to answer.
  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError)
  /// Removes the question that ``show(_:dismissed:)`` shows.
  func clear()
  /// Shows a notice, which wants no answer; false when the face cannot. May be called on another thread than the other
  /// methods.
  func tell(_ notice: Notice) -> Bool
}

/// The names of the faces.
enum FaceName: String, CaseIterable {
  case terminal, pinentry, notification, command
}

/// The obstacle that keeps a face from asking.
enum FaceError: Error, Equatable {
  /// The face is not there, or went away. The reason is for the journal.
  case unavailable(String)
  /// The face cannot put a question of this kind.
  case unsuitable
  /// The question was withdrawn.
  case withdrawn

  /// The reason in words for a person.
  var reason: String {
    switch self {
    case .unavailable(let reason): reason
    case .unsuitable: "it cannot ask such a question"
    case .withdrawn: "the question was withdrawn"
    }
  }
}

/// Something that a person should know.
struct Notice: Equatable {
  let title: String
  let text: String
  /// True when the notice should stay until the person has seen it.
  let isUrgent: Bool
}
