internal import Glibc

extension [UInt8] {
  /// Overwrites the bytes with zeros. If another array shares the bytes, only a copy is overwritten.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in
      // The array has `bytes.count` bytes from `start` on.
      if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
    }
  }
}
