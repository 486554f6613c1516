import Testing
import VaultModel

@Suite("Policies and kinds as people write them")
struct PolicyTests {
  @Test("Access classes keep their names and their stored numbers")
  func accessClasses() {
    let expected: [AccessClass: (UInt8, String)] = [
      .whenUnlocked: (1, "when-unlocked"), .afterFirstUnlock: (2, "after-first-unlock"), .always: (3, "always"),
    ]
    #expect(AccessClass.allCases.count == expected.count)
    for (access, (number, name)) in expected {
      #expect(access.rawValue == number && access.name == name)
      #expect(AccessClass(name: name) == access)
    }
    #expect(AccessClass(name: "Always") == nil && AccessClass(name: "") == nil)
  }

  @Test("Requirements keep their names and their stored numbers")
  func requirements() {
    let expected: [Requirement: (UInt8, String)] = [
      .none: (0, "none"), .userPresence: (1, "user-presence"), .biometry: (2, "biometry"), .password: (3, "password"),
    ]
    #expect(Requirement.allCases.count == expected.count)
    for (requirement, (number, name)) in expected {
      #expect(requirement.rawValue == number && requirement.name == name)
      #expect(Requirement(name: name) == requirement)
    }
    #expect(Requirement(name: "userPresence") == nil)
  }

  @Test("A new item is served while unlocked, without more ado, for a minute per authentication")
  func defaults() {
    let policy = Policy()
    #expect(policy.accessible == .whenUnlocked && policy.require == .none && policy.reuseWindow == 60)
  }

  @Test("The kinds are the eleven of the design, under their stored names")
  func kinds() {
    let names = [
      "password", "api-key", "device-token", "wifi", "pairing-code", "tls-key", "certificate", "ssh-key", "totp",
      "note", "blob",
    ]
    #expect(ItemKind.allCases.map(\.rawValue) == names)
  }

  @Test("Every kind describes itself, and what it suggests could be stored")
  func descriptions() throws {
    for kind in ItemKind.allCases {
      let summary = kind.facts.summary
      #expect(!summary.isEmpty && !summary.hasSuffix("."))
      let keys = kind.suggestedAttributes.map(\.key)
      #expect(Set(keys).count == keys.count)
      for attribute in kind.suggestedAttributes {
        #expect(throws: Never.self) { try Attributes.validate([attribute.key: "x"]) }
        #expect(!attribute.meaning.isEmpty)
      }
    }
    #expect(ItemKind.wifi.suggestedAttributes.filter(\.isRequired).map(\.key) == ["ssid"])
  }

  @Test("The current version is the newest one")
  func current() throws {
    #expect(try Fixture.item(version: 7, size: 12).current == VersionInfo(number: 7, created: 1_500_000, size: 12))
  }
}
