/// The judgement of a slot about the fingers that are enrolled.
typealias Fingers = FingerprintReader.Answer

extension FingerprintReader.Answer {
  /// The record of a new slot: the names of the fingers, none of them also when there is no reader.
  var names: [String] { if case .fingers(let names) = self { names } else { [] } }

  /// True when a slot that recorded these names may still be opened. A reader that was unplugged changes no finger;
  /// what cannot be known is no agreement.
  func agree(with recorded: [String]) -> Bool {
    switch self {
    case .fingers(let names): names == recorded
    case .noEnrolledFinger: recorded.isEmpty
    case .noBus, .noService, .noReader: true
    case .unknown: false
    }
  }

  /// True when it says which fingers there are.
  var isKnown: Bool {
    switch self {
    case .fingers, .noEnrolledFinger: true
    case .noBus, .noService, .noReader, .unknown: false
    }
  }

  /// The reason why no slot may be opened when none agrees.
  var objection: String {
    if case .unknown = self, let reason { return reason }
    return "the enrolled fingers are not those the slot was made with; unlock with the password once"
  }
}
