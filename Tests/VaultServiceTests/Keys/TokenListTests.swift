import Testing
import VaultModel
import VaultStore

@testable import VaultService

@Suite("A list of revoked tokens") struct TokenListTests {
  @Test(
    "is made in the class of its key, so that it can be read whenever a token is checked",
    arguments: AccessClass.allCases)
  func accessible(_ accessible: AccessClass) throws {
    let stand = try RoomStand.unlocked(system: true)
    let name = try ItemName("key")
    let change = ItemChange(name: name, use: .jwt, accessible: accessible)
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    for number in 1...2 {
      let id = String(repeating: "0", count: 31) + "\(number)"
      let (list, version) = try stand.items.revoke(.one(id), of: name, for: stand.administrator)
      #expect(version == number)
      #expect(try stand.items.item(list, for: stand.administrator).policy.accessible == accessible)
    }
  }
}
