internal import VaultBytes
internal import VaultWire

/// The rules that the prompts of one conversation must keep.
///
/// A person trusts the text on the terminal, but the process that listens at the socket's path writes the prompts.
struct PromptRules {
  /// The most prompts of a conversation: more than any needs. PAM's modules may say 64 things, and the daemon adds the
  /// purposes of a few programs and the way that is tried next.
  static let most = 128
  /// The most prompts of a rekey, which asks for each password that is to be kept. A vault has up to 255 slots.
  static let mostOfRekey = 1024
  /// The longest text in bytes: an item's name has up to 512, and a PAM module's message fewer than this limit.
  static let longestText = 4096
  /// The longest recovery code in bytes; present codes have 35.
  static let longestCode = 80

  /// True when the call makes a recovery code.
  let makesCode: Bool
  private let most: Int
  private var count = 0

  init(makesCode: Bool, most: Int = PromptRules.most) {
    self.makesCode = makesCode
    self.most = most
  }

  /// Checks one prompt.
  ///
  /// - Throws: ``ClientError/protocolViolation(_:)`` for a prompt that no daemon sends.
  mutating func check(_ prompt: borrowing Prompt) throws(ClientError) {
    count += 1
    guard count <= most else { throw .protocolViolation("more than \(most) prompts") }
    guard prompt.text.utf8.count <= Self.longestText else { throw .protocolViolation("a prompt of too much text") }
    guard prompt.style == .confirm || prompt.code == nil else {
      throw .protocolViolation("a code that nobody confirms")
    }
    guard prompt.style == .confirm else { return }
    guard makesCode else { throw .protocolViolation("a recovery code where none is made") }
    switch prompt.code {
    case .some(let code):
      guard code.withBytes(Self.isRecoveryCode) else { throw .protocolViolation("no recovery code") }
    case .none: throw .protocolViolation("no recovery code")
    }
  }

  /// Returns true for Crockford's base 32 and dashes, which can be shown unescaped.
  private static func isRecoveryCode(_ code: RawSpan) -> Bool {
    let code = Span<UInt8>(_bytes: code)
    guard (1...longestCode).contains(code.count) else { return false }
    return code.indices.allSatisfy { index in
      switch code[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): !"ILOU".utf8.contains(code[index])
      default: false
      }
    }
  }
}
