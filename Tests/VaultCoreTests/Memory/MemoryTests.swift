import CMemorySearch
import Glibc
import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

/// Searches all of this process's writable memory for a secret, while the secret is held and after its release.
@Suite(.serialized, .enabled(if: is_sanitized() == 0, "a sanitizer has a heap of its own")) struct MemoryTests {
  @Test("A secret is in memory while it is held and nowhere afterwards") func held() throws {
    let canary = Canary()
    let count = try canary.hold { secret in
      let found = try canary.occurrences()
      #expect(found > 0)
      return secret.count
    }
    #expect(count == Canary.count)
    #expect(try canary.occurrences() == 0)
  }

  @Test("The search finds a copy in ordinary memory, so that finding none means something") func control() throws {
    let canary = Canary()
    let copy = canary.hold { $0.array }
    #expect(try canary.occurrences() > 0)
    #expect(copy.count == Canary.count)
  }

  @Test("Sealing and opening leave no copy of the plaintext") func opened() throws {
    let canary = Canary()
    let key = RandomBytes.secret(count: 32)
    let sealed = canary.hold { secret in secret.withBytes { AEAD.seal($0, key: key, associatedData: []) } }
    #expect(try canary.occurrences() == 0)
    do {
      let opened = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
        try AEAD.open(bytes, key: key, associatedData: [])
      }
      #expect(try canary.occurrences() > 0)
      #expect(opened.count == Canary.count)
    }
    #expect(try canary.occurrences() == 0)
  }

  @Test("The locked memory that a large value took is given back once it is let go") func largeValue() async {
    // The test runs in a process of its own, where no other code makes secrets.
    await #expect(processExitsWith: .success) {
      let scratch = Scratch()
      func made(_ body: () -> Void) -> Int {
        let before = SecureBytes.made.total
        body()
        return SecureBytes.made.total - before
      }
      #expect(made { scratch.fill(count: 100) { _ in } } == 0)
      #expect(made { scratch.empty() } == 0)
      for _ in 0..<2 {
        #expect(made { scratch.fill(count: 1 << 20) { _ in } } == 1)
        #expect(made { scratch.empty() } == 1)
      }
    }
  }

  @Test("Memory that was given back serves again, and all of it is zero") func givenBack() async {
    await #expect(processExitsWith: .success) {
      func address(_ bytes: borrowing SecureBytes) -> UInt {
        bytes.withBytes { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
      }
      func fill(count: Int) -> UInt {
        let bytes = SecureBytes(count: count) {
          for place in 0..<count { $0.storeBytes(of: 7, toByteOffset: place, as: UInt8.self) }
        }
        return address(bytes) + UInt(count)
      }
      for count in [32, 4080, 1, 1000] {
        let end = fill(count: count)
        let next = SecureBytes(count: 4080)
        #expect(address(next) + 4080 == end && next.array == [UInt8](repeating: 0, count: 4080), "\(count)")
      }
      // The spare memory can be unmapped as well, which a lock does.
      let kept = fill(count: 32)
      SecureBytes.unmapSpare()
      let unmapped = unsafe msync(UnsafeMutableRawPointer(bitPattern: (kept - 1) & ~4095), 1, MS_ASYNC)
      #expect(unmapped == -1 && errno == ENOMEM)
      // Larger blocks are returned to the system.
      let large = fill(count: 1 << 20)
      #expect(fill(count: 32) != large)
    }
  }

  @Test("A byte behind the last one cannot be written", arguments: [1, 32, 4080, 4081])
  func guarded(count: Int) async {
    await #expect(processExitsWith: .failure) { [count] in
      let bytes = SecureBytes(count: count)
      bytes.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { bytes in
          let end = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress! + bytes.count)
          unsafe end.storeBytes(of: 1, as: UInt8.self)
        }
      }
      exit(EXIT_SUCCESS)
    }
  }

  @Test("Making and opening a slot leaves neither its password nor the vault key behind") func slots() throws {
    let password = Canary()
    let vaultKey = Canary()
    let vaultID = RandomBytes.array(count: 16)
    let slot = try password.hold { password in
      try vaultKey.hold { vaultKey in
        try SlotRecord.make(
          id: 1, kind: .password, label: "", created: 0, secret: password, kdf: .floor, vaultKey: vaultKey,
          vaultID: vaultID)
      }
    }
    #expect(try password.occurrences() == 0)
    #expect(try vaultKey.occurrences() == 0)
    do {
      let opened = try password.hold { try slot.openVaultKey(secret: $0, vaultID: vaultID) }
      #expect(try vaultKey.occurrences() > 0)
      #expect(opened.count == 32)
    }
    #expect(try password.occurrences() == 0)
    #expect(try vaultKey.occurrences() == 0)
  }
}

/// A random secret of which the test itself keeps only a masked copy.
private struct Canary {
  static let count = 32
  private static let mask: UInt8 = 0xA5
  private let masked: [UInt8]

  init() {
    masked = RandomBytes.array(count: Self.count)
  }

  /// Lends the secret for the duration of the call.
  func hold<R: ~Copyable>(_ body: (borrowing SecureBytes) throws -> R) rethrows -> R {
    let secret = SecureBytes(count: Self.count) { bytes in
      for index in 0..<Self.count {
        bytes.storeBytes(of: masked[index] ^ Self.mask, toByteOffset: index, as: UInt8.self)
      }
    }
    return try body(secret)
  }
  /// The number of places in writable memory that hold the first or the second half of the secret.
  func occurrences() throws -> Int {
    // The search's own buffers, for reading and comparing, lie in one mapping, which the search leaves out.
    let window = 1 << 20
    let size = window + 4096
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    defer {
      unsafe explicit_bzero(memory, size)
      unsafe munmap(memory, size)
    }
    let needle = unsafe memory + window
    for index in 0..<Self.count {
      unsafe needle.storeBytes(of: masked[index] ^ Self.mask, toByteOffset: index, as: UInt8.self)
    }
    let own = UInt(bitPattern: memory)
    let file = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var found = 0
    for (start, end) in try writableMappings() {
      if start <= own && own < end {
        unsafe found += search(file, start, own, memory, window, needle)
        unsafe found += search(file, own + UInt(size), end, memory, window, needle)
      } else {
        unsafe found += search(file, start, end, memory, window, needle)
      }
    }
    return found
  }

  @unsafe private func search(
    _ file: Int32, _ start: UInt, _ end: UInt, _ buffer: UnsafeMutableRawPointer, _ window: Int,
    _ needle: UnsafeMutableRawPointer
  ) -> Int {
    var found = 0
    var position = start
    while position < end {
      // A mapping of another test may be gone by now; the secret is not in such a mapping.
      let count = unsafe pread(file, buffer, min(window, Int(end - position)), Int(position))
      guard count > 0 else { break }
      for half in [0, Self.count / 2] {
        let (first, size) = unsafe (Int32(needle.load(fromByteOffset: half, as: UInt8.self)), Self.count / 2)
        var rest = 0
        while rest + size <= count, let hit = unsafe memchr(buffer + rest, first, count - rest - size + 1) {
          if unsafe memcmp(hit, needle + half, size) == 0 { found += 1 }
          rest = unsafe hit - buffer + 1
        }
      }
      if position + UInt(count) >= end { break }
      position += UInt(max(count - Self.count, 1))
    }
    return found
  }

  private func writableMappings() throws -> [(UInt, UInt)] {
    let opened = unsafe fopen("/proc/self/maps", "r")
    let text = unsafe try #require(opened)
    defer { unsafe fclose(text) }
    var mappings: [(UInt, UInt)] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    while unsafe getline(&line, &capacity, text) > 0, let start = unsafe line {
      let parts = unsafe String(cString: start).split(separator: " ")
      let range = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if parts[1].hasPrefix("rw"), range.count == 2 { mappings.append((range[0], range[1])) }
    }
    unsafe free(line)
    return mappings
  }
}
