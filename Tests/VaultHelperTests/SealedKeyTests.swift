import Foundation
import Testing
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultTPM2

@Suite("A key sealed by a TPM") struct SealedKeyTests {
  private func withChip(_ body: (Sandbox, _ device: String) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // Without this, libtss2 would print a line or two about each error.
    unsafe setenv("TSS2_LOG", "all+NONE", 1)
    try body(sandbox, try SoftwareTPM(in: sandbox).device)
  }

  private func newKey() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255) } }

  private func buffer(_ bytes: [UInt8]) -> SecretBuffer { unsafe SecretBuffer(copying: bytes.span.bytes) }

  private func bytes(_ key: borrowing SecretBuffer) -> [UInt8] {
    key.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  private func code(_ body: () throws -> Void) -> KeystoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? KeystoreError)?.code
    }
  }

  @Test("no part of it, and none with a byte too many, is taken for it") func truncations() throws {
    try withChip { _, device in
      let chip = try Chip(device: device)
      try chip.open()
      let locator = try chip.seal(buffer(newKey())).locator()
      _ = try SealedKey(locator: locator)
      for count in 0..<locator.count {
        #expect(code { _ = try SealedKey(locator: Array(locator[..<count])) } == .damaged, "\(count) bytes")
      }
      #expect(code { _ = try SealedKey(locator: locator + [0]) } == .damaged)
    }
  }

  @Test("a flipped bit in any byte keeps it shut") func flippedBits() throws {
    try withChip { _, device in
      let chip = try Chip(device: device)
      try chip.open()
      let key = newKey()
      let locator = try chip.seal(buffer(key)).locator()
      for index in locator.indices {
        var changed = locator
        changed[index] ^= 1 << UInt8(index % 8)
        let code = code { _ = try chip.unseal(try SealedKey(locator: changed)) }
        #expect(code == .damaged, "byte \(index)")
      }
      #expect(bytes(try chip.unseal(try SealedKey(locator: locator))) == key)
    }
  }

  @Test("somebody who listens on the way to the TPM sees no key") func listening() throws {
    try withChip { sandbox, device in
      // libtss2's own recorder stands between libtss2 and the TPM. No other test uses it.
      let record = sandbox.home + "/record"
      unsafe setenv("TCTI_PCAP_FILE", record, 1)
      let key = newKey()
      let locator: [UInt8]
      do {
        let chip = try Chip(device: "pcap:" + device)
        try chip.open()
        let sealed = try chip.seal(buffer(key))
        locator = try sealed.locator()
        #expect(bytes(try chip.unseal(sealed)) == key)
      }
      let seen = try Data(contentsOf: URL(fileURLWithPath: record))
      // The positive control: the public part, which ends with its digest, travels in the clear, so the record contains
      // it.
      let publicCount = 2 + Int(locator[0]) << 8 + Int(locator[1])
      #expect(seen.range(of: Data(locator[publicCount - 32..<publicCount])) != nil)
      for start in stride(from: 0, to: 32, by: 8) {
        #expect(seen.range(of: Data(key[start..<start + 8])) == nil)
      }
    }
  }
}
