/// The fingers of a user that are enrolled, as far as the fingerprint service tells.
package enum Fingers: Equatable {
  /// The names of the user's enrolled fingers (`right-index-finger`), sorted, over all readers.
  case fingers([String])
  /// There is no system bus, so that no PAM module reaches a reader either.
  case noBus
  case noService
  case noReader
  case noEnrolledFinger
  /// It could not be asked, for this reason.
  case unknown(String)

  /// The obstacle that keeps fingers from opening anything here; nil when one can.
  package var obstacle: Obstacle? {
    switch self {
    case .fingers: nil
    case .noBus: Obstacle("there is no system bus, over which fprintd is asked")
    case .noService: Obstacle("fprintd is not installed")
    case .noReader: Obstacle("there is no fingerprint reader")
    case .noEnrolledFinger: Obstacle("no finger is enrolled", "see fprintd-enroll(1)")
    case .unknown(let text): Obstacle("fprintd cannot be asked: \(text)")
    }
  }
}

extension Fingers {
  /// The record of a new slot: the names of the fingers, none of them also when there is no reader.
  package var names: [String] { if case .fingers(let names) = self { names } else { [] } }

  /// True when a slot that recorded these names may still be opened. A reader that was unplugged changes no finger;
  /// what cannot be known is no agreement.
  package func agree(with recorded: [String]) -> Bool {
    switch self {
    case .fingers(let names): names == recorded
    case .noEnrolledFinger: recorded.isEmpty
    case .noBus, .noService, .noReader: true
    case .unknown: false
    }
  }

  /// True when it says which fingers there are.
  package var isKnown: Bool {
    switch self {
    case .fingers, .noEnrolledFinger: true
    case .noBus, .noService, .noReader, .unknown: false
    }
  }

  /// The reason why no slot may be opened when none agrees.
  package var objection: Obstacle {
    if case .unknown = self, let obstacle { return obstacle }
    return Obstacle("the enrolled fingers are not those the slot was made with", "use your vault password")
  }
}
