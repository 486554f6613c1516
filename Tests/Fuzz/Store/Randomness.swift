import CSodium

/// A generator in place of libsodium's own that can be restarted, so that the same input has the same effect in every
/// run, down to the order of the blind tags.
enum Randomness {
  // Only one thread uses the state; libsodium calls the generator without a context.
  nonisolated(unsafe) private static var state: UInt64 = 0

  /// Replaces libsodium's generator. The library must not have been used before.
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
    // The memory is never freed, because libsodium keeps the pointer.
    unsafe randombytes_set_implementation(own)
  }

  /// Restarts the generator, far from the numbers with which a store was made.
  static func restart() { unsafe state = 1 << 40 }

  /// Returns the next number of SplitMix64 (Steele, Lea and Flood 2014).
  private static func next() -> UInt64 {
    unsafe state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = unsafe state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
