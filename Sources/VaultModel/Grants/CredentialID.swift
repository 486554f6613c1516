/// The name of a credential in a unit, as in `LoadCredential=express.key:/run/vault/credentials`.
///
/// The rules are those of systemd (`credential_name_valid`): 1 to 255 printable ASCII characters that form a file's
/// name, without a colon.
public struct CredentialID: Hashable, Sendable, CustomStringConvertible {
  /// The longest name, in bytes.
  public static let maximumBytes = 255

  /// The name as given.
  public let text: String

  /// Takes `text` as a name.
  ///
  /// - Throws: ``ValueError`` with the rule that `text` breaks.
  public init(_ text: String) throws(ValueError) {
    guard !text.isEmpty else { throw ValueError(reason: "the name of a credential is missing") }
    guard text.utf8.count <= Self.maximumBytes else {
      throw ValueError(reason: "the name of a credential has at most \(Self.maximumBytes) characters")
    }
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") })
    else { throw ValueError(reason: "the name of a credential is printable ASCII without ':' and '/'") }
    guard text != ".", text != ".." else { throw ValueError(reason: "'\(text)' is not the name of a credential") }
    self.text = text
  }

  public var description: String { text }
}
