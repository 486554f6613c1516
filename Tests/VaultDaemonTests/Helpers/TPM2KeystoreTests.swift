import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("The tpm2 keystore") struct TPM2KeystoreTests {
  @Test("a key that was sealed comes back, also after the machine was started again") func roundTrip() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)")
    let keys = (0..<4).map { _ in KeystoreStand.newKey() }
    // A TPM has no room for this many keys at once, so each loaded key was also flushed.
    let locators = try keys.map { try stand.store($0, in: .tpm2) }
    #expect(Set(locators).count == 4)
    #expect(locators.allSatisfy { $0.count <= KeystoreRequest.locatorLimit })
    chip.stop()
    try chip.start()
    #expect(try locators.map { try stand.fetch($0, from: .tpm2) } == keys)
    try stand.remove(locators[0], from: .tpm2)
  }

  @Test("whoever listens on the way to the TPM hears no key, sealed or opened") func listener() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let (device, heard) = try SoftwareTPM(in: sandbox).listener()
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(device)")
    let key = KeystoreStand.newKey()
    let locator = try stand.store(key, in: .tpm2)
    #expect(try stand.fetch(locator, from: .tpm2) == key)
    let all = try heard()
    // The public part, behind two bytes of length, is seen both when the key is made and when it is loaded.
    let publicPart = locator[..<(2 + Int(locator[0]) << 8 + Int(locator[1]))]
    #expect(all.split(separator: publicPart, omittingEmptySubsequences: false).count > 2)
    #expect(!all.contains(key))
  }

  @Test("after the TPM was cleared, and on another machine, the key stays shut") func otherChip() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)")
    let locator = try stand.store(KeystoreStand.newKey(), in: .tpm2)
    let other = try SoftwareTPM(in: sandbox, name: "other")
    let elsewhere = try KeystoreStand(sandbox, "tpm2-device = \(other.device)")
    let foreign = KeystoreStand.error { try elsewhere.fetch(locator, from: .tpm2) }
    #expect(foreign?.code == .damaged)
    #expect(foreign?.reason.contains("sealed by another TPM, or the TPM was cleared") == true)
    #expect(try stand.fetch(locator, from: .tpm2).count == 32)
    try chip.clear()
    #expect(KeystoreStand.error { try stand.fetch(locator, from: .tpm2) } == foreign)
  }

  @Test("a sealed key that was cut short or changed is refused") func changed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)")
    let locator = try stand.store(KeystoreStand.newKey(), in: .tpm2)
    for count in [0, 1, 60, locator.count - 1] {
      let error = KeystoreStand.error { try stand.fetch(Array(locator[..<count]), from: .tpm2) }
      #expect(error?.code == .damaged, "\(count): \(String(describing: error))")
    }
    var changed = locator
    changed[locator.count / 2] ^= 1
    #expect(KeystoreStand.error { try stand.fetch(changed, from: .tpm2) }?.code == .damaged)
    #expect(
      KeystoreStand.error { try stand.fetch([UInt8](repeating: 0, count: 1025), from: .tpm2) }?.code == .damaged)
  }

  @Test("without a TPM it says so, and how to reach one") func none() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    func error(_ device: String) throws -> KeystoreError? {
      let stand = try KeystoreStand(sandbox, "tpm2-device = \(device)")
      return KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .tpm2) }
    }
    #expect(try error("device:/nonexistent") == KeystoreError(.unavailable, "there is no TPM at /nonexistent"))
    let unreached = try error("swtpm:path=/nonexistent")
    #expect(unreached?.code == .unavailable)
    #expect(unreached?.reason.hasPrefix("the TPM at swtpm:path=/nonexistent cannot be reached") == true)
  }

  @Test("a TPM that is locked out, for what others tried, seals and opens keys all the same") func lockedOut() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)")
    let key = KeystoreStand.newKey()
    let locator = try stand.store(key, in: .tpm2)
    try chip.run(
      "tpm2_dictionarylockout", "--setup-parameters", "--max-tries=1", "--recovery-time=1000",
      "--lockout-recovery-time=1000")
    // Another program's value with a password, and a wrong password for it.
    let index = "0x1500001"
    try chip.run("tpm2_nvdefine", index, "-C", "o", "-s", "8", "-p", "right", "-a", "authread|authwrite")
    #expect(throws: SandboxError.self) { try chip.run("tpm2_nvread", index, "-C", index, "-P", "wrong") }
    #expect(try stand.fetch(locator, from: .tpm2) == key)
    #expect(try stand.fetch(stand.store(key, in: .tpm2), from: .tpm2) == key)
  }

  @Test("an owner hierarchy with a password is refused, not damaged") func ownerPassword() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let stand = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)")
    let locator = try stand.store(KeystoreStand.newKey(), in: .tpm2)
    try chip.run("tpm2_changeauth", "-c", "owner", "a password")
    #expect(KeystoreStand.error { try stand.fetch(locator, from: .tpm2) }?.code == .refused)
  }
}
