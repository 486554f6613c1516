internal import VaultWire

/// The rules that the prompts of one conversation must keep.
///
/// A person trusts what the terminal says, and whatever listens at the socket's path words the prompts.
struct PromptRules {
  /// More prompts than any conversation has.
  static let most = 64
  /// A rekey asks for each password that is to be kept, and a vault has up to 255 ways in.
  static let mostOfRekey = 1024
  /// The longest text in bytes: an item's name has 512, and a PAM module's message less.
  static let longestText = 4096
  /// The longest recovery code in bytes; today's have 35.
  static let longestCode = 80

  /// True when the call makes a recovery code.
  let makesCode: Bool
  private let most: Int
  private var count = 0

  init(makesCode: Bool, most: Int = PromptRules.most) {
    self.makesCode = makesCode
    self.most = most
  }

  /// Throws ``ClientError/protocolViolation(_:)`` for a prompt that no daemon puts.
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

  /// True when it is Crockford's base 32 and dashes, so that it can be shown as it is.
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
