import Foundation
import Testing
import VaultCore
import VaultModel
import VaultSigning

/// Secure memory with these bytes.
func secret(_ bytes: [UInt8]) -> SecureBytes { unsafe SecureBytes(copying: bytes.span.bytes) }

/// Copies a span, which only tests may do.
func array(_ bytes: RawSpan) -> [UInt8] { unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }

/// Returns the text in secure memory, which only tests may copy.
func text(_ bytes: borrowing SecureBytes) -> String { String(decoding: bytes.withBytes { array($0) }, as: UTF8.self) }

/// Returns bytes in hexadecimal, as the RFCs print them.
func hex(_ bytes: RawSpan) -> String { array(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

/// Returns the bytes of a hexadecimal text.
func hex(_ text: some StringProtocol) -> [UInt8] {
  let digits = Array(text.utf8)
  precondition(digits.count % 2 == 0)
  return stride(from: 0, to: digits.count, by: 2).map { index in
    guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else {
      preconditionFailure("not hexadecimal")
    }
    return byte
  }
}

/// Reads the vectors of a file in Vectors: `name = value` lines, with a blank line after each vector.
func vectors(_ file: String) throws -> [[String: String]] {
  let folder = try #require(Bundle.module.url(forResource: "Vectors", withExtension: nil))
  let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
  return text.split(separator: "\n\n").map { vector in
    Dictionary(
      uniqueKeysWithValues: vector.split(separator: "\n").map { line in
        let equals = line.firstIndex(of: "=")!
        return (
          line[..<equals].trimmingCharacters(in: .whitespaces),
          line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        )
      })
  }
}

/// Reads a file in Vectors.
func vectorText(_ file: String) throws -> String {
  let folder = try #require(Bundle.module.url(forResource: "Vectors", withExtension: nil))
  return try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
}

extension [UInt8] {
  /// Returns the bytes with one bit flipped.
  func flipping(bit: Int) -> [UInt8] {
    var copy = self
    copy[bit / 8] ^= 1 << UInt8(bit % 8)
    return copy
  }
}

/// Makes a PEM text of one block.
func pem(_ label: String, _ bytes: [UInt8]) -> String {
  let body = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
  return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
}

/// Returns the bytes in the first block of a PEM text.
func unpem(_ text: String) throws -> [UInt8] {
  let lines = text.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.dropFirst()
  return try [UInt8](#require(Data(base64Encoded: lines.prefix { !$0.hasPrefix("-----") }.joined())))
}

/// Reads a private key.
func privateKey(_ text: String) throws(KeyError) -> PrivateKey {
  let bytes = Array(text.utf8)
  return try PrivateKey(unsafe bytes.span.bytes)
}

/// Returns the error with which a text is refused; nil if it is a key.
func refusal(_ text: String) -> KeyError? {
  do throws(KeyError) {
    _ = try privateKey(text)
    return nil
  } catch { return error }
}

extension KeyError {
  var isDamaged: Bool { if case .damaged = self { true } else { false } }
  var isUnsupported: Bool { if case .unsupported = self { true } else { false } }
}

extension PrivateKey {
  borrowing func sign(_ message: [UInt8], _ scheme: SignatureScheme) throws -> [UInt8] {
    try sign(unsafe message.span.bytes, scheme)
  }
}

extension PublicKey {
  func verifies(_ signature: [UInt8], of message: [UInt8], _ scheme: SignatureScheme) -> Bool {
    verifies(signature, of: unsafe message.span.bytes, scheme)
  }
}
