import Glibc
import VaultBytes
import VaultCore
import VaultSigning

/// The life of a session, in stages between which a test searches this process's memory. Standard input gives, in this
/// order: the peer's public key (128 bytes), the parameters (16 bytes) and the value (1 KiB) of a secret, the private
/// exponent (32 bytes), and one byte to leave each stage. Each stage is a line of output.
enum SessionStages {
  static func run() throws {
    let input = read(count: 128 + 16 + 1024)
    let session = try agree(input)
    stage("opened")
    try handOver(input, in: session)
    stage("handed over")
    close(session)
    stage("closed")
  }

  private static func agree(_ input: [UInt8]) throws -> SecretSession {
    let exponent = SecureBytes(count: 32) { fill(&$0) }
    stage("began")
    return try input.withSpan { (input: RawSpan) throws(SecretSessionError) in
      try SecretSession.agree(with: input.extracting(first: 128), exponent: exponent)
    }
  }

  private static func handOver(_ input: [UInt8], in session: borrowing SecretSession) throws {
    let secret = try input.withSpan { (input: RawSpan) throws(SecretSessionError) in
      try session.decode(parameters: input.extracting(128..<144), value: input.extracting(droppingFirst: 144))
    }
    stage("read")
    var value = SecureBytes(count: session.encodedCount(secret.count))
    _ = try value.withMutableBytes { (room: inout MutableRawSpan) throws(SecretSessionError) in
      try secret.withBytes { (secret: RawSpan) throws(SecretSessionError) in try session.encode(secret, into: &room) }
    }
  }

  private static func close(_ session: consuming SecretSession) {}

  private static func stage(_ name: StaticString) {
    _ = unsafe write(1, name.utf8Start, name.utf8CodeUnitCount)
    _ = unsafe write(1, "\n", 1)
    _ = read(count: 1)
  }

  private static func read(count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var room = unsafe span.mutableBytes
    fill(&room)
    return bytes
  }

  /// Reads standard input straight into the bytes.
  private static func fill(_ bytes: inout MutableRawSpan) {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var count = 0
      while count < bytes.count {
        let more = unsafe Glibc.read(0, bytes.baseAddress! + count, bytes.count - count)
        guard more > 0 else { exit(1) }
        count += more
      }
    }
  }
}
