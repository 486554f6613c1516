/// The enrolled fingers of a user, as far as the fingerprint service tells them.
package enum Fingers: Equatable {
  /// The names of the user's enrolled fingers (`right-index-finger`), sorted, over all readers.
  case fingers([String])
  /// There is no system bus, so PAM modules do not reach a reader either.
  case noBus
  case noService
  case noReader
  case noEnrolledFinger
  /// The fingerprint service could not be asked, for this reason.
  case unknown(String)

  /// The obstacle that keeps fingers from opening anything here; nil if there is none.
  package var obstacle: Obstacle? {
    switch self {
    case .fingers: nil
    case .noBus: Obstacle("there is no system bus on which to ask fprintd")
    case .noService: Obstacle("fprintd is not installed")
    case .noReader: Obstacle("there is no fingerprint reader")
    case .noEnrolledFinger: Obstacle("no finger is enrolled", "see fprintd-enroll(1)")
    case .unknown(let text): Obstacle("fprintd cannot be asked: \(text)")
    }
  }
}

extension Fingers {
  /// The finger names that a new slot records; none if there is no reader.
  package var names: [String] { if case .fingers(let names) = self { names } else { [] } }

  /// True when a slot that recorded these names may still be opened. A reader that was unplugged changes no finger. If
  /// the fingers cannot be determined, they do not agree.
  package func agree(with recorded: [String]) -> Bool {
    switch self {
    case .fingers(let names): names == recorded
    case .noEnrolledFinger: recorded.isEmpty
    case .noBus, .noService, .noReader: true
    case .unknown: false
    }
  }

  /// True when the enrolled fingers are known.
  package var isKnown: Bool {
    switch self {
    case .fingers, .noEnrolledFinger: true
    case .noBus, .noService, .noReader, .unknown: false
    }
  }

  /// The reason why no slot may be opened, if the enrolled fingers agree with none.
  package var objection: Obstacle {
    if case .unknown = self, let obstacle { return obstacle }
    return Obstacle("the enrolled fingers are not those the slot was made with", "use your vault password")
  }
}
