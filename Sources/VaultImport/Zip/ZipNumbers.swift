internal import VaultWire

/// The numbers in a zip archive, of which the least significant byte comes first.
struct ZipNumbers {
  let bytes: [UInt8]

  /// The number of `count` bytes, at most eight, at a place.
  ///
  /// - Throws: ``ImportFailure`` if the place is outside of the archive, or if the number is no size of anything.
  func number(_ place: Int, _ count: Int) throws(ImportFailure) -> Int {
    guard place >= 0, count <= bytes.count, place <= bytes.count - count else { throw .cutOff }
    guard let number = Int(exactly: bytes[place..<place + count].littleEndian) else {
      throw .zip("a number is too large")
    }
    return number
  }

  /// True if the four bytes at a place are those of a signature, which begins with `PK`.
  func has(_ signature: (UInt8, UInt8), at place: Int) -> Bool {
    place >= 0 && place <= bytes.count - 4
      && bytes[place..<place + 4].elementsEqual([0x50, 0x4B, signature.0, signature.1])
  }

  /// The place behind `count` bytes.
  func end(_ place: Int, _ count: Int) throws(ImportFailure) -> Int {
    guard place >= 0, place <= bytes.count, count >= 0, count <= bytes.count - place else { throw .cutOff }
    return place + count
  }
}

extension ImportFailure {
  static func zip(_ fault: String) -> ImportFailure { ImportFailure(.damaged, "the zip archive is damaged: \(fault)") }
}
