internal import Glibc

extension [UInt8] {
  /// Overwrites the bytes with zeros. It helps only if no other array shares them.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in
      // There are that many bytes from the address on.
      if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
    }
  }
}
