import Foundation
import Testing
import VaultTesting
import VaultWire

@Suite("The memory that a person allows for the derivation of a key") struct KDFMemoryTests {
  @Test(
    "adds to the limit on the memory of vault-import",
    .enabled(if: Root.isAtHand, "only root may look at a process that is not dumpable"),
    .disabled(if: Sanitizer.isPresent, "a sanitizer needs calls that the sandbox refuses"),
    arguments: [(1 << 30, "3221225472"), (5 << 28, "3489660928"), (4 << 30, "6442450944")])
  func limit(memory: Int, limit: String) throws {
    let stand = try ImportStand(["\(ImportCall.kdfMemoryArgument)\(memory)"], keepsTheirEnd: true)
    stand.send([UInt8(ascii: "{")])
    stand.waitUntilRead()
    let limits = try String(contentsOfFile: "/proc/\(stand.pid)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max address space") })
    #expect(line.split(separator: " ").contains(Substring(limit)), "\(line)")
    stand.hangUp()
    #expect(stand.end() == 65)
  }

  @Test("is from 1 to 4 GiB", arguments: ["1", "1073741823", "4294967297", "", "1g", "-1"])
  func refused(memory: String) throws {
    let stand = try ImportStand(["\(ImportCall.kdfMemoryArgument)\(memory)"])
    #expect(stand.end() == 64)
  }
}
