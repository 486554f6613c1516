import CMemorySearch
import Foundation
import Glibc
public import Testing

/// Looks for secrets in the memory of a running process, as an attacker who is root would.
///
/// It searches every writable page and the registers of every thread for every window of 16 bytes of the secret: as it
/// is, in hex, escaped as in JSON, and in base64 at each of the three alignments. Each window holds at least one of the
/// blocks of 8 bytes that lie side by side in the secret, so the search looks for those blocks in each form. By chance,
/// a block of 8 characters out of 32 turns up once in 2^40 places.
public struct MemorySearch {
  /// The content of each region of the process when it was read.
  private let regions: [[UInt8]]
  /// The name of each region in /proc/PID/maps, or its address where it has none; for registers, their thread.
  private let names: [String]

  /// True when memory can be searched: only root may read it, and a sanitizer keeps what was given back.
  public static let isPossible = Root.isAtHand && !Sanitizer.isPresent
  /// The reason to skip a test where ``isPossible`` is false.
  public static let need: Comment = "needs root to read the memory of a process that is not dumpable, and no sanitizer"

  /// Reads all writable memory of the process. Needs root, because `vaultd` is not dumpable.
  ///
  /// - Parameter registers: true to read also those of its threads, which another process that traces it prevents.
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

  /// The registers of a thread; empty when it has ended meanwhile.
  private static func registers(of thread: Int32, in pid: Int32) throws -> [UInt8] {
    // A thread that is ending is there for a moment, but cannot be traced.
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

  /// The whole of /proc/PID/maps. The kernel gives it a page at a time, and Foundation takes the first page for all of
  /// it.
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

  /// The forms in which the secret was found; empty when none of it is there.
  public func find(_ secret: [UInt8]) -> Set<String> { findForms(of: ["": secret])["", default: []] }

  /// The forms in which each secret was found, by the secret's name; one that was not found is left out. One pass for
  /// all.
  public func findForms(of secrets: [String: [UInt8]]) -> [String: Set<String>] {
    let forms = secrets.flatMap { name, secret in Self.forms(of: secret).map { (name, $0) } }
    var found: [String: Set<String>] = [:]
    for index in places(of: forms.map { Self.needles($1.text, width: $1.width) }).keys {
      let (name, form) = forms[index]
      found[name, default: []].insert(form.name)
    }
    return found
  }

  /// The places of each key that is there as it is, by the key's name; one pass for all of them. Of a short one all of it has
  /// to be there.
  public func find(_ keys: [String: [UInt8]]) -> [String: Set<String>] {
    let keys = Array(keys)
    for (_, key) in keys { precondition(key.count > Self.width, "a shorter key would be found by chance") }
    let found = places(
      of: keys.map { Self.needles($0.value, width: $0.value.count < 2 * Self.width ? $0.value.count : Self.width) })
    return Dictionary(uniqueKeysWithValues: found.map { (keys[$0].key, $1) })
  }

  /// The places of each group of needles of which one was found, by the group's number.
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

  /// The size of the blocks of a secret that are looked for, in bytes.
  private static let width = 8

  /// A way to write a secret, the text that it gives, and the length that ``width`` bytes of the secret have in it at
  /// least.
  private typealias Form = (name: String, text: [UInt8], width: Int)

  private static func forms(of secret: [UInt8]) -> [Form] {
    precondition(secret.count >= 2 * width, "a shorter secret would be found by chance")
    let hex = secret.map { String(format: "%02x", $0) }.joined()
    var forms: [Form] = [
      ("raw", secret, width), ("hex", Array(hex.utf8), 2 * width), ("HEX", Array(hex.uppercased().utf8), 2 * width),
    ]
    // Bytes that are no text never go into a JSON string; escaping them anyway gives runs of U+FFFD, which any memory
    // has.
    if let text = String(validating: secret, as: UTF8.self),
      let json = try? JSONEncoder().encode(text).dropFirst().dropLast(), [UInt8](json) != secret
    {
      forms.append(("JSON", [UInt8](json), width))
    }
    for shift in 0..<3 {
      // The first and last characters also hold bits of the neighbours.
      let encoded = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedData()
      forms.append(("base64+\(shift)", [UInt8](encoded.dropFirst(4).dropLast(4)), width * 4 / 3))
    }
    return forms
  }

  /// The blocks of `width` bytes that lie side by side in `bytes`; the last one ends where the bytes do.
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
      // A page that cannot be read or went away meanwhile is skipped; those behind it may be there.
      bytes += chunk[..<max(0, count)]
      at += UInt64(count > 0 ? count : 4096)
    }
    return bytes
  }
}
