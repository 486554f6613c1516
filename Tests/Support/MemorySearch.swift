import CLinux
import Foundation
import Glibc

/// Looks for secrets in the memory of a running process, as an attacker who is root would.
///
/// It searches every writable page for every window of 16 bytes of the secret: as it is, in hex, escaped as JSON does,
/// and in base64 at each of the three alignments.
public struct MemorySearch {
  /// What one region of the process held when it was read.
  private let regions: [[UInt8]]

  /// Reads all writable memory of the process. Needs root, because `vaultd` is not dumpable.
  public init(pid: Int32) throws {
    let maps = try String(contentsOfFile: "/proc/\(pid)/maps", encoding: .utf8)
    let memory = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw SandboxError("open /proc/\(pid)/mem: \(errno)") }
    defer { Glibc.close(memory) }
    var regions: [[UInt8]] = []
    for line in maps.split(separator: "\n") {
      let parts = line.split(separator: " ")
      // A guarded page of libsodium is not readable for the process, but /proc/PID/mem shows it all the same.
      guard parts.count >= 5, parts[1].dropFirst().first == "w" || parts[1].hasPrefix("---") else { continue }
      let bounds = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2, bounds[1] - bounds[0] <= 1 << 30 else { continue }
      regions.append(Self.read(memory, from: bounds[0], to: bounds[1]))
    }
    self.regions = regions
  }

  /// How many bytes were searched.
  public var size: Int { regions.reduce(0) { $0 + $1.count } }

  /// In which forms the secret was found; empty when none of it is there.
  public func find(_ secret: [UInt8]) -> Set<String> {
    precondition(secret.count >= 16, "a shorter secret would be found by chance")
    var found: Set<String> = []
    for (form, windows) in Self.forms(of: secret) where windows.contains(where: isPresent) { found.insert(form) }
    return found
  }

  private func isPresent(_ window: [UInt8]) -> Bool {
    regions.contains { region in unsafe memmem(region, region.count, window, window.count) != nil }
  }

  private static func forms(of secret: [UInt8]) -> [(String, Set<[UInt8]>)] {
    let hex = secret.map { String(format: "%02x", $0) }.joined()
    let json = (try? JSONEncoder().encode(String(decoding: secret, as: UTF8.self))).map { [UInt8]($0.dropFirst().dropLast()) }
    var forms = [
      ("raw", windows(secret, 16)), ("hex", windows(Array(hex.utf8), 32)), ("HEX", windows(Array(hex.uppercased().utf8), 32)),
    ]
    if let json, json != secret { forms.append(("JSON", windows(json, 16))) }
    for shift in 0..<3 {
      // The first and last characters also hold bits of the neighbours.
      let encoded = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedData()
      forms.append(("base64+\(shift)", windows(Array(encoded.dropFirst(4).dropLast(4)), 20)))
    }
    return forms
  }

  private static func windows(_ bytes: [UInt8], _ length: Int) -> Set<[UInt8]> {
    guard bytes.count >= length else { return [] }
    return Set((0...bytes.count - length).map { Array(bytes[$0..<$0 + length]) })
  }

  private static func read(_ memory: Int32, from start: UInt64, to end: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    var at = start
    while at < end {
      let wanted = min(Int(end - at), chunk.count)
      let count = unsafe pread(memory, &chunk, wanted, off_t(at))
      // Pages that were never touched, or went away meanwhile.
      guard count > 0 else { break }
      bytes += chunk[..<count]
      at += UInt64(count)
    }
    return bytes
  }
}
