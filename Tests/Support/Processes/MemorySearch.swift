import CMemorySearch
import Foundation
import Glibc
public import Testing

/// A search for secrets in the memory of a running process, as an attacker who is root would do it.
///
/// It searches every writable page and the registers of every thread for every window of 16 bytes of the secret: raw,
/// in hexadecimal, escaped as in JSON, and in base64 at each of the three alignments. Each window contains at least one
/// of the adjacent blocks of 8 bytes into which the secret divides, so the search looks for these blocks in each form.
/// A block of 8 characters out of 32 occurs by chance once in 2^40 places.
public struct MemorySearch {
  /// The content of each region of the process when it was read.
  private let regions: [[UInt8]]
  /// The name of each region in /proc/PID/maps, or its address if it has no name; for registers, their thread.
  private let names: [String]

  /// True if memory can be searched: only root may read it, and a sanitizer keeps freed memory.
  public static let isPossible = Root.isAtHand && !Sanitizer.isPresent
  /// The reason to skip a test if ``isPossible`` is false.
  public static let need: Comment = "needs root to read the memory of a process that is not dumpable, and no sanitizer"

  /// Reads all writable memory of the process. Needs root, because `vaultd` is not dumpable.
  ///
  /// - Parameter registers: True to read the registers of its threads, too. That fails while another process traces it.
  public init(pid: Int32, registers: Bool = true) throws {
    let maps = try Self.mappings(of: pid)
    let memory = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw SandboxError("open /proc/\(pid)/mem: \(errno)") }
    defer { Glibc.close(memory) }
    var regions: [[UInt8]] = []
    var names: [String] = []
    for line in maps.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count >= 5, parts[1].dropFirst().first == "w" else { continue }
      let bounds = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2 else { continue }
      regions.append(Self.read(memory, from: bounds[0], to: bounds[1]))
      names.append(parts.count > 5 ? String(parts[5]) : "the mapping at 0x\(parts[0])")
    }
    guard registers else {
      (self.regions, self.names) = (regions, names)
      return
    }
    for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").compactMap(Int32.init) {
      regions.append(try Self.registers(of: thread, in: pid))
      names.append("the registers of thread \(thread)")
    }
    self.regions = regions
    self.names = names
  }

  /// Searches `bytes` as if they were all the memory of a process.
  public init(of bytes: [UInt8]) { (regions, names) = ([bytes], ["the bytes"]) }

  /// The registers of a thread; empty if it has ended meanwhile.
  private static func registers(of thread: Int32, in pid: Int32) throws -> [UInt8] {
    // A thread that is ending still exists for a moment, but cannot be traced.
    for _ in 0..<1000 {
      let found = registers(of: thread)
      if found.count > 512 { return found }
      guard FileManager.default.fileExists(atPath: "/proc/\(pid)/task/\(thread)") else { return [] }
      usleep(1000)
    }
    throw SandboxError("the registers of thread \(thread) cannot be read")
  }

  private static func registers(of thread: Int32) -> [UInt8] {
    var registers = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe thread_registers(thread, &registers, registers.count)
    return Array(registers[..<max(0, count)])
  }

  /// The whole of /proc/PID/maps. The kernel returns one page at a time, and Foundation takes the first
  /// page for the whole.
  private static func mappings(of pid: Int32) throws -> String {
    let file = unsafe open("/proc/\(pid)/maps", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SandboxError("open /proc/\(pid)/maps: \(errno)") }
    defer { Glibc.close(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw SandboxError("read /proc/\(pid)/maps: \(errno)") }
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += chunk[..<count]
    }
  }

  /// The number of bytes that were searched.
  public var size: Int { regions.reduce(0) { $0 + $1.count } }

  /// The forms in which the secret was found; empty if it was not found.
  public func find(_ secret: [UInt8]) -> Set<String> { findForms(of: ["": secret])["", default: []] }

  /// The forms in which each secret was found, by the secret's name; a secret that was not found is left out. One pass
  /// searches for all.
  public func findForms(of secrets: [String: [UInt8]]) -> [String: Set<String>] {
    let forms = secrets.flatMap { name, secret in Self.forms(of: secret).map { (name, $0) } }
    var found: [String: Set<String>] = [:]
    for index in places(of: forms.map { Self.needles($1.text, width: $1.width) }).keys {
      let (name, form) = forms[index]
      found[name, default: []].insert(form.name)
    }
    return found
  }

  /// The places of each key that was found in raw form, by the key's name; one pass searches for all keys. A short key
  /// must be found as a whole.
  public func find(_ keys: [String: [UInt8]]) -> [String: Set<String>] {
    let keys = Array(keys)
    for (_, key) in keys { precondition(key.count > Self.width, "a shorter key would be found by chance") }
    let found = places(
      of: keys.map { Self.needles($0.value, width: $0.value.count < 2 * Self.width ? $0.value.count : Self.width) })
    return Dictionary(uniqueKeysWithValues: found.map { (keys[$0].key, $1) })
  }

  /// The first window of `count` bytes, at a multiple of 16, that is what is sought; nil if there is none. Windows that
  /// begin with 8 zeros are passed over: most of memory is zero.
  public func window(of count: Int, isSought: (ArraySlice<UInt8>) -> Bool) -> [UInt8]? {
    for region in regions where region.count >= count {
      let place = unsafe region.withUnsafeBytes { bytes in
        stride(from: 0, through: bytes.count - count, by: 16).first { place in
          unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0
            && isSought(region[place..<place + count])
        }
      }
      if let place { return Array(region[place..<place + count]) }
    }
    return nil
  }

  /// The places of each group of needles of which at least one was found, by the group's number.
  private func places(of groups: [[needle]]) -> [Int: Set<String>] {
    let owners = groups.enumerated().flatMap { index, group in [Int](repeating: index, count: group.count) }
    let needles = groups.flatMap { $0 }
    var places: [Int: Set<String>] = [:]
    for (region, place) in zip(regions, names) {
      var found = [UInt8](repeating: 0, count: needles.count)
      unsafe memory_search(region, region.count, needles, needles.count, &found)
      for (owner, isThere) in zip(owners, found) where isThere != 0 { places[owner, default: []].insert(place) }
    }
    return places
  }

  /// The size in bytes of the blocks of a secret that are searched for.
  private static let width = 8

  /// A form of a secret: its name, the text, and the minimum length in that text of ``width`` bytes of the secret.
  private typealias Form = (name: String, text: [UInt8], width: Int)

  private static func forms(of secret: [UInt8]) -> [Form] {
    precondition(secret.count >= 2 * width, "a shorter secret would be found by chance")
    let hex = secret.map { String(format: "%02x", $0) }.joined()
    var forms: [Form] = [
      ("raw", secret, width), ("hex", Array(hex.utf8), 2 * width), ("HEX", Array(hex.uppercased().utf8), 2 * width),
    ]
    // Bytes that are not text never go into a JSON string; escaping them anyway would give runs of U+FFFD,
    // which any memory contains.
    if let text = String(validating: secret, as: UTF8.self),
      let json = try? JSONEncoder().encode(text).dropFirst().dropLast(), [UInt8](json) != secret
    {
      forms.append(("JSON", [UInt8](json), width))
    }
    for shift in 0..<3 {
      // The first and last characters also contain bits of the neighbors.
      let encoded = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedData()
      forms.append(("base64+\(shift)", [UInt8](encoded.dropFirst(4).dropLast(4)), width * 4 / 3))
    }
    return forms
  }

  /// The adjacent blocks of `width` bytes in `bytes`; the last block ends where the bytes end.
  private static func needles(_ bytes: [UInt8], width: Int) -> [needle] {
    let last = bytes.count - width
    return (Array(stride(from: 0, to: last, by: width)) + [last]).map { start in
      var needle = needle()
      needle.length = UInt32(width)
      unsafe withUnsafeMutableBytes(of: &needle.bytes) { unsafe $0.copyBytes(from: bytes[start..<(start + width)]) }
      return needle
    }
  }

  private static func read(_ memory: Int32, from start: UInt64, to end: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    var at = start
    while at < end {
      let wanted = min(Int(end - at), chunk.count)
      let count = unsafe pread(memory, &chunk, wanted, off_t(at))
      // A page that cannot be read or has disappeared is skipped; the pages after it may exist.
      bytes += chunk[..<max(0, count)]
      at += UInt64(count > 0 ? count : 4096)
    }
    return bytes
  }
}
