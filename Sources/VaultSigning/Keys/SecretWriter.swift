internal import CGcrypt
internal import VaultCore
internal import VaultModel

/// Writes a private key's encodings front to back, in secure memory of a size that is known before.
struct SecretWriter: ~Copyable {
  private var memory: SecureBytes
  /// The number of bytes that were written.
  private(set) var count = 0

  /// Makes room for `capacity` bytes; to write more traps.
  init(capacity: Int) { memory = SecureBytes(count: capacity) }

  /// The bytes, without the room that is left.
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

  /// A number's digits with zeros before them up to `count` bytes, for which it is small enough.
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

  /// An INTEGER of DER.
  mutating func integer(_ number: borrowing Number) {
    let size = number.bitCount / 8 + 1
    bytes(DER.header(DERTag.integer, count: size))
    self.number(number, count: size)
  }

  /// A number of four bytes, as SSH has them.
  mutating func uint32(_ number: Int) {
    for shift in [24, 16, 8, 0] { byte(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// A string of SSH.
  mutating func string(_ content: some Collection<UInt8>) {
    uint32(content.count)
    bytes(content)
  }

  /// An mpint of SSH, of a number above 0.
  mutating func unsignedInteger(_ number: borrowing Number) {
    let size = number.bitCount / 8 + 1
    // A zero goes before digits whose first bit is set, and before no others.
    let isLong = number.bitCount % 8 == 0
    uint32(isLong ? size : number.byteCount)
    self.number(number, count: isLong ? size : number.byteCount)
  }

  /// The size of an INTEGER of DER.
  static func integerCount(_ number: borrowing Number) -> Int {
    let size = number.bitCount / 8 + 1
    return DER.header(DERTag.integer, count: size).count + size
  }

  /// The PEM text (RFC 7468) of what was written.
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
