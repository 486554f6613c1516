internal import VaultBytes
internal import VaultCore
internal import VaultWire

/// A secret in a frame, either in the field for text or in the field for base64.
enum SecretField {
  case absent
  /// Both fields are set, or a field has the wrong form.
  case invalid
  /// The place of the secret, and its size in bytes.
  case text(Frame.Node, count: Int)
  case base64(Frame.Node, count: Int)

  init(_ text: Frame.Node?, _ data: Frame.Node?, _ frame: borrowing Frame) {
    switch (text, data) {
    case (nil, nil): self = .absent
    case (.some, .some): self = .invalid
    case (let text?, nil): self = frame.secretCount(text).map { .text(text, count: $0) } ?? .invalid
    case (nil, let data?): self = frame.base64Count(data).map { .base64(data, count: $0) } ?? .invalid
    }
  }

  /// Copies the secret into separate memory; nil when there is none.
  func bytes(_ frame: borrowing Frame) -> SecureBytes? {
    guard let count else { return nil }
    var isValid = false
    let bytes = SecureBytes(count: count) { bytes in isValid = copy(frame, into: &bytes) }
    if !isValid { return nil }
    return bytes
  }

  /// The size of the secret in bytes; nil when there is none.
  var count: Int? {
    switch self {
    case .absent, .invalid: nil
    case .text(_, let count), .base64(_, let count): count
    }
  }

  /// Copies the secret into `bytes`; false when there is none.
  func copy(_ frame: borrowing Frame, into bytes: inout MutableRawSpan) -> Bool {
    switch self {
    case .absent, .invalid: return false
    case .base64(let data, _): return frame.copyBase64(data, into: &bytes)
    case .text(let text, _):
      frame.copySecret(text, into: &bytes)
      return true
    }
  }
}
