internal import CGcrypt
internal import VaultBytes
internal import VaultCore
internal import VaultModel

/// A writer of a private key's encodings, front to back, into secure memory of a size known in advance.
struct SecretWriter: ~Copyable {
  private var memory: SecureBytes
  /// The number of bytes written so far.
  private(set) var count = 0

  /// Makes room for `capacity` bytes; writing more traps.
  init(capacity: Int) { memory = SecureBytes(count: capacity) }

  /// The written bytes, without the remaining room.
  consuming func finish() -> SecureBytes {
    guard count < memory.count else { return memory }
    let count = count
    return memory.withBytes { SecureBytes(copying: $0.extracting(first: count)) }
  }

  mutating func byte(_ byte: UInt8) {
    let place = count
    memory.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: place, as: UInt8.self) }
    count += 1
  }

  mutating func bytes(_ bytes: some Collection<UInt8>) { for byte in bytes { self.byte(byte) } }

  mutating func bytes(_ bytes: RawSpan) { for place in bytes.byteOffsets { byte(bytes.byte(place)) } }

  /// Writes a number's digits with leading zeros up to `count` bytes, which must be sufficient for the number.
  mutating func number(_ number: borrowing Number, count: Int) {
    let size = number.byteCount
    bytes(repeatElement(0, count: count - size))
    let place = self.count
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        // There is room, or the slice traps.
        unsafe number.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[place..<place + size]))
      }
    }
    self.count += size
  }

  /// Writes an INTEGER of DER.
  mutating func integer(_ number: borrowing Number) {
    let size = number.bitCount / 8 + 1
    bytes(DER.header(DERTag.integer, count: size))
    self.number(number, count: size)
  }

  /// Writes a number of four bytes in SSH's form.
  mutating func uint32(_ number: Int) {
    for shift in [24, 16, 8, 0] { byte(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Writes a string of SSH.
  mutating func string(_ content: some Collection<UInt8>) {
    uint32(content.count)
    bytes(content)
  }

  /// Writes an mpint of SSH for a number above 0.
  mutating func unsignedInteger(_ number: borrowing Number) {
    let size = number.bitCount / 8 + 1
    // Digits whose first bit is set get a zero before them; others do not.
    let isLong = number.bitCount % 8 == 0
    uint32(isLong ? size : number.byteCount)
    self.number(number, count: isLong ? size : number.byteCount)
  }

  /// The size of an INTEGER of DER in bytes.
  static func integerCount(_ number: borrowing Number) -> Int {
    let size = number.bitCount / 8 + 1
    return DER.header(DERTag.integer, count: size).count + size
  }

  /// The written bytes as a PEM text (RFC 7468).
  consuming func pem(_ label: String) -> SecureBytes {
    let begin = Array("-----BEGIN \(label)-----\n".utf8)
    let end = Array("-----END \(label)-----\n".utf8)
    let body = finish()
    var base64 = SecureBytes(count: Base64.encodedCount(body.count))
    base64.withMutableBytes { text in body.withBytes { Base64.encode($0, into: &text) } }
    let lines = (base64.count + 63) / 64
    var text = SecretWriter(capacity: begin.count + base64.count + lines + end.count)
    text.bytes(begin)
    base64.withBytes { base64 in
      for start in stride(from: 0, to: base64.byteCount, by: 64) {
        text.bytes(base64.extracting(start..<min(start + 64, base64.byteCount)))
        text.byte(0x0A)
      }
    }
    text.bytes(end)
    return text.finish()
  }
}
