internal import CSodium
internal import Glibc

/// SHA-256 (FIPS 180-4), for digests that other programs exchange. Nothing here is sealed or bound by it.
public enum SHA256 {
  /// The 32-byte digest of `bytes`.
  public static func digest(of bytes: RawSpan) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe bytes.withUnsafeBytes { bytes in
      let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
      // There is room for 32 bytes; the call does not fail.
      _ = unsafe crypto_hash_sha256(&digest, start, UInt64(bytes.count))
    }
    return digest
  }

  /// The digest of a whole file, in hexadecimal; nil if the file cannot be read.
  ///
  /// - Parameters:
  ///   - most: the number of bytes after which reading stops; the last part may go beyond it.
  ///   - mayGoOn: asked before each part is read; if it returns false, the result is nil.
  public static func hex(ofFile file: Int32, atMost most: Int = .max, while mayGoOn: () -> Bool = { true }) -> String? {
    var state = crypto_hash_sha256_state()
    unsafe crypto_hash_sha256_init(&state)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var offset: off_t = 0
    while offset < most {
      guard mayGoOn() else { return nil }
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, offset) }
      if count < 0 { return nil }
      if count == 0 { break }
      // `count` bytes were just read.
      unsafe crypto_hash_sha256_update(&state, buffer, UInt64(count))
      offset += off_t(count)
    }
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe crypto_hash_sha256_final(&state, &digest)
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
