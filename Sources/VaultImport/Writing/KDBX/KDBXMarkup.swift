internal import VaultBytes
internal import VaultWire

/// The content of a KDBX 4 file as it is written: the inner header and the document in XML.
struct KDBXMarkup {
  /// The number of the algorithm ChaCha20 for protected values (`CrsAlgorithm` in KeePass's CryptoRandomStream.cs).
  private static let chaCha20: UInt64 = 3
  private static let room = 64 << 10

  private var seal: KDBXSeal
  private let protection: KDBXProtection
  private var held: [UInt8] = []

  /// Writes the beginning of the inner header.
  init(_ seal: KDBXSeal) throws(ImportFailure) {
    self.seal = seal
    let key = RandomBytes.make(64)
    protection = try KDBXProtection(Self.chaCha20, key: key)
    held += KDBXSeal.field(1, KDBXSeal.number(Self.chaCha20, 4)) + KDBXSeal.field(2, key)
  }

  // MARK: The inner header

  /// Adds an attachment, whose number is that of those before it.
  mutating func add(attachment bytes: [UInt8]) throws(ImportFailure) {
    // The first byte asks programs to encrypt the attachment in their memory.
    held += [3] + KDBXSeal.number(UInt64(bytes.count) + 1, 4) + [1] + bytes
    try flush()
  }

  /// Ends the inner header and begins the document.
  mutating func beginDocument() {
    held += KDBXSeal.field(0, [])
    held += Array(#"<?xml version="1.0" encoding="utf-8" standalone="yes"?>"#.utf8)
    open("KeePassFile")
  }

  // MARK: The document

  mutating func open(_ name: String) { held += Array("<\(name)>".utf8) }
  mutating func close(_ name: String) { held += Array("</\(name)>".utf8) }

  /// Adds an element with a text, of which a question mark stands for each character that XML does not allow.
  mutating func element(_ name: String, _ text: String) {
    open(name)
    escape(Array(XMLCharacters.allowed(text).utf8))
    close(name)
  }

  /// Adds a field of an entry. A value that no document in XML can hold is protected, too.
  mutating func field(_ key: String, _ value: [UInt8], isProtected: Bool) throws(ImportFailure) {
    open("String")
    element("Key", key)
    if isProtected || !XMLCharacters.isAllowed(value) {
      held += Array(#"<Value Protected="True">"#.utf8)
      held += Array(try protection.encrypt(value).base64.utf8)
    } else {
      open("Value")
      escape(value)
    }
    close("Value")
    close("String")
    try flush()
  }

  /// Adds a file of an entry by its number.
  mutating func attachment(_ name: String, number: Int) {
    open("Binary")
    element("Key", name)
    held += Array("<Value Ref=\"\(number)\"/>".utf8)
    close("Binary")
  }

  /// Writes the end of the file.
  mutating func finish() throws(ImportFailure) {
    close("KeePassFile")
    try seal.add(held)
    held = []
    try seal.finish()
  }

  private mutating func flush() throws(ImportFailure) {
    guard held.count >= Self.room else { return }
    try seal.add(held)
    held.removeAll(keepingCapacity: true)
  }

  /// Adds a text with the characters escaped that mean something else in XML (XML 1.0, section 2.4), and the carriage
  /// return, which a reader would change otherwise (section 2.11).
  private mutating func escape(_ text: [UInt8]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "&"): held += Array("&amp;".utf8)
      case UInt8(ascii: "<"): held += Array("&lt;".utf8)
      case UInt8(ascii: ">"): held += Array("&gt;".utf8)
      case 0x0D: held += Array("&#13;".utf8)
      default: held.append(byte)
      }
    }
  }
}
