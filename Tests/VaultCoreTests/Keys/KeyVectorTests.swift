import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

/// Records that another program made from the documented format: a stored record must open for ever.
@Suite struct KeyVectorTests {
  private struct Vector {
    let fields: [String: [UInt8]]

    init(_ kind: String) throws {
      fields = try #require(try vectors("keys.txt").first { $0["kind"] == Array(kind.utf8) })
    }

    func bytes(_ name: String) throws -> [UInt8] { try #require(fields[name]) }
    func secret(_ name: String) throws -> SecureBytes { SecureBytes(try bytes(name)) }
  }

  private func slot(_ kind: String) throws -> SlotRecord {
    try Vector(kind).bytes("slot").lend { (bytes: RawSpan) throws(CryptoError) in try SlotRecord(decoding: bytes) }
  }

  @Test("a recovery slot opens with its code, and a presence slot with its key") func slots() throws {
    let recovery = try Vector("recovery")
    let code = RecoveryCode(bits: try recovery.secret("secret"))
    let key = try slot("recovery").openVaultKey(secret: code.text(), vaultID: recovery.bytes("vault-id"))
    #expect(try key.array == recovery.bytes("key"))
    let presence = try Vector("presence")
    let vault = try presence.bytes("vault-id")
    let other = try slot("presence").openVaultKey(secret: presence.secret("secret"), vaultID: vault)
    #expect(try other.array == presence.bytes("key"))
  }

  @Test("class keys unwrap under the vault key and under the boot key") func classKeys() throws {
    for (kind, wrapping, accessible) in [
      ("vault", KeyWrap.WrappingKey.vault, AccessClass.whenUnlocked), ("boot", .boot, .always),
    ] {
      let vector = try Vector(kind)
      let vault = try VaultID(vector.bytes("vault-id"))
      let key = try vector.secret("secret")
      let opened = try vector.bytes("wrapped").lend { (bytes: RawSpan) throws(CryptoError) in
        try KeyWrap.unwrap(bytes, of: accessible, under: wrapping, key: key, vaultID: vault)
      }
      #expect(try opened.array == vector.bytes("key"), "\(kind)")
    }
  }

  @Test("the next vault key of a rekey opens, and knows the slots it was made for") func nextKey() throws {
    let vector = try Vector("next")
    let next = try NextVaultKey(decoding: vector.bytes("wrapped"))
    let opened = try next.open(under: vector.secret("secret"), vaultID: VaultID(vector.bytes("vault-id")))
    #expect(try opened.array == vector.bytes("key"))
    let slots = [try slot("recovery"), try slot("presence")]
    #expect(next.isFor(slots) && next.isFor(slots.reversed()))
    #expect(!next.isFor([slots[0]]))
  }
}
