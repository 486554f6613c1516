import Foundation
import Testing
import VaultCore
import VaultModel

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

/// Reads the vectors of a file in Vectors: `name = hex` lines, with a blank line after each vector.
func vectors(_ file: String) throws -> [[String: [UInt8]]] {
  let folder = try #require(Bundle.module.url(forResource: "Vectors", withExtension: nil))
  let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
  return text.split(separator: "\n\n").map { vector in
    Dictionary(
      uniqueKeysWithValues: vector.split(separator: "\n").map { line in
        let equals = line.firstIndex(of: "=")!
        let name = line[..<equals].trimmingCharacters(in: .whitespaces)
        return (name, hex(line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)))
      })
  }
}

extension [UInt8] {
  /// Lends the bytes as a span.
  func lend<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe span.bytes)  // Bytes have no padding: all are initialized.
  }

  /// Returns the bytes with one bit flipped.
  func flipping(bit: Int) -> [UInt8] {
    var copy = self
    copy[bit / 8] ^= 1 << UInt8(bit % 8)
    return copy
  }
}

extension SecureBytes {
  /// Copies an array into locked memory, which only tests may do.
  init(_ bytes: [UInt8]) { self = bytes.lend { SecureBytes(copying: $0) } }
  init(text: String) { self.init(Array(text.utf8)) }
  var array: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } } }
}

/// Returns the error that `body` throws; nil if it returns.
func failure(_ body: () throws(CryptoError) -> Void) -> CryptoError? {
  do {
    try body()
    return nil
  } catch { return error }
}

extension CryptoError {
  var isMalformed: Bool { if case .malformed = self { true } else { false } }
  var isLimits: Bool { if case .limits = self { true } else { false } }
}

extension ItemID {
  /// Makes an id that a test can recognize.
  init(filledWith byte: UInt8) {
    let bytes = [UInt8](repeating: byte, count: Self.count)
    self = bytes.lend { ItemID($0)! }
  }
}
