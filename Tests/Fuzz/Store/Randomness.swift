import CSodium

/// A generator in the place of libsodium's own that always begins anew: the same input does the same in every run, down
/// to the place of a blind tag among the others.
enum Randomness {
  // Only one thread uses it; libsodium calls it without a context.
  nonisolated(unsafe) private static var state: UInt64 = 0

  /// Replaces libsodium's generator. Nothing may have used the library before.
  static func replace() {
    let own = UnsafeMutablePointer<randombytes_implementation>.allocate(capacity: 1)
    unsafe own.initialize(to: randombytes_implementation())
    unsafe own.pointee.implementation_name = {
      let name: StaticString = "repeating"
      // A literal's bytes end with a NUL and live as long as the program.
      return unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    unsafe own.pointee.random = { UInt32(truncatingIfNeeded: Randomness.next()) }
    unsafe own.pointee.buf = { start, count in
      guard let start = unsafe start else { return }
      // libsodium lends `count` bytes for the call.
      let bytes = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
      for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: Randomness.next() >> 32) }
    }
    // It is never given back: libsodium keeps the pointer.
    unsafe randombytes_set_implementation(own)
  }

  /// Begins anew, far from the numbers that a store was made with.
  static func restart() { unsafe state = 1 << 40 }

  /// SplitMix64 (Steele, Lea and Flood 2014).
  private static func next() -> UInt64 {
    unsafe state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = unsafe state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
