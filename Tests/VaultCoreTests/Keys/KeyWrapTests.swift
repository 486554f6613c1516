import Testing
import VaultBytes
import VaultCore
import VaultModel

@Suite struct KeyWrapTests {
  private let vault = VaultID.random()

  private func unwrapped(
    _ bytes: [UInt8], _ accessible: AccessClass, _ wrapping: KeyWrap.WrappingKey, _ key: borrowing SecureBytes,
    _ vault: VaultID
  ) -> [UInt8]? {
    try? bytes.lend { (bytes: RawSpan) throws(CryptoError) in
      try KeyWrap.unwrap(bytes, of: accessible, under: wrapping, key: key, vaultID: vault).array
    }
  }

  @Test("A class key unwraps with its key, class, vault and wrapping, and with no other") func bound() {
    let key = RandomBytes.secret(count: 32)
    let classKey = RandomBytes.secret(count: 32)
    for accessible in AccessClass.allCases {
      for wrapping in KeyWrap.WrappingKey.allCases {
        let wrapped = KeyWrap.wrap(classKey: classKey, of: accessible, under: wrapping, key: key, vaultID: vault)
        #expect(wrapped.count == KeyWrap.wrappedCount)
        for otherClass in AccessClass.allCases {
          for otherWrapping in KeyWrap.WrappingKey.allCases {
            let result = unwrapped(wrapped, otherClass, otherWrapping, key, vault)
            #expect(result == (otherClass == accessible && otherWrapping == wrapping ? classKey.array : nil))
          }
        }
        #expect(unwrapped(wrapped, accessible, wrapping, key, .random()) == nil)
        #expect(unwrapped(wrapped, accessible, wrapping, RandomBytes.secret(count: 32), vault) == nil)
      }
    }
  }

  @Test("Every truncation, extension and flipped bit of a wrapped key is refused") func damage() {
    let key = RandomBytes.secret(count: 32)
    let wrapped = KeyWrap.wrap(
      classKey: RandomBytes.secret(count: 32), of: .always, under: .boot, key: key, vaultID: vault)
    for count in 0..<wrapped.count { #expect(unwrapped(Array(wrapped[..<count]), .always, .boot, key, vault) == nil) }
    for bit in 0..<wrapped.count * 8 {
      #expect(unwrapped(wrapped.flipping(bit: bit), .always, .boot, key, vault) == nil)
    }
    #expect(unwrapped(wrapped + [0], .always, .boot, key, vault) == nil)
  }

  @Test("A message of another size under the same key is no class key") func size() {
    let key = RandomBytes.secret(count: 32)
    #expect(unwrapped([UInt8](repeating: 0, count: 71), .always, .boot, key, vault) == nil)
  }

  @Test("The numbers of the derived keys are final") func numbers() {
    #expect(Subkey.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    #expect(
      [Subkey.values, .metadata, .tags, .grants, .integrity, .audit, .backup, .box, .deposits, .cursors, .session]
        == Subkey.allCases)
  }

  @Test("A class's keys differ from each other, and forgetting takes what it says") func classKeys() {
    let classKey = RandomBytes.secret(count: 32)
    var seen: Set<[UInt8]> = [classKey.array]
    for subkey in Subkey.allCases { seen.insert(subkey.derive(from: classKey).array) }
    #expect(seen.count == 12)
    var keys = ClassKeys(classKey: classKey, of: .whenUnlocked)
    #expect(held(keys) == ["values", "metadata", "tags", "integrity", "audit", "box", "deposits"])
    keys.forgetValues()
    #expect(held(keys) == ["metadata", "tags", "deposits"])
    keys.forgetNames()
    #expect(held(keys) == ["deposits"])
    keys.forgetDeposits()
    #expect(held(keys) == [])
    keys = ClassKeys(classKey: classKey, of: .whenUnlocked)
    keys.forgetAll()
    #expect(held(keys) == [])
    #expect(held(ClassKeys()) == [])
    let others = ["values", "metadata", "tags", "integrity"]
    #expect(held(ClassKeys(classKey: classKey, of: .afterFirstUnlock)) == others + ["backup", "deposits", "session"])
    #expect(held(ClassKeys(classKey: classKey, of: .always)) == others + ["audit", "deposits", "cursors"])
  }

  /// The names of the keys that are present.
  private func held(_ keys: borrowing ClassKeys) -> [String] {
    let (opensValues, opensMetadata) = (keys.opensValues, keys.opensMetadata)
    let isHeld = [
      ("values", keys.values != nil), ("metadata", keys.metadata != nil), ("tags", keys.tags != nil),
      ("integrity", keys.integrity != nil), ("audit", keys.audit != nil), ("backup", keys.backup != nil),
      ("box", keys.box != nil), ("deposits", keys.deposits != nil),
      ("cursors", keys.cursors != nil), ("session", keys.session != nil),
    ]
    let held = isHeld.filter(\.1).map(\.0)
    #expect(opensValues == held.contains("values") && opensMetadata == held.contains("metadata"))
    return held
  }
}
