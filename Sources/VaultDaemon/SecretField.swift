internal import VaultAPI
internal import VaultCore

/// A secret out of a frame: the field that carries text, or the one that carries base64.
enum SecretField: ~Copyable {
  case absent
  /// Both fields, or base64 that is none.
  case invalid
  case bytes(SecureBytes)

  init(_ text: Frame.Node?, _ data: Frame.Node?, _ frame: borrowing Frame) {
    switch (text, data) {
    case (nil, nil): self = .absent
    case (.some, .some): self = .invalid
    case (let text?, nil):
      guard let count = frame.secretCount(text) else {
        self = .invalid
        return
      }
      self = .bytes(SecureBytes(count: count) { bytes in frame.copySecret(text, into: &bytes) })
    case (nil, let data?):
      guard let count = frame.base64Count(data) else {
        self = .invalid
        return
      }
      var isValid = false
      let bytes = SecureBytes(count: count) { bytes in isValid = frame.copyBase64(data, into: &bytes) }
      self = isValid ? .bytes(bytes) : .invalid
    }
  }
}
