import Testing
import VaultModel

@testable import VaultDaemon

@Suite("The address of a service manager's socket") struct CredentialAddressTests {
  @Test("names a unit and one of its credentials") func parts() throws {
    let address = try #require(CredentialAddress(parsing: "9f8/unit/tls@1.service/express.key"))
    #expect(address.unit == "tls@1.service" && address.id.text == "express.key")
  }

  @Test(
    "is nothing else",
    arguments: [
      "", "/unit/a.service/id", "12345678901234567/unit/a.service/id", "9F8/unit/a.service/id", "g/unit/a.service/id",
      "9f8/unit/a.service", "9f8/unit/a.service/", "9f8/user/a.service/id", "9f8/unit//id", "9f8/unit/a/id",
      "9f8/unit/a.service,user:0/id", "9f8/unit/a.socket/id", "9f8/unit/a.service/id/more", "9f8/unit/a.service/i:d",
      "9f8/unit/a.service/..", "9f8/unit/a.service/i\nd", "9f8/unit/.service/id",
    ])
  func others(text: String) { #expect(CredentialAddress(parsing: text) == nil) }

  @Test("is cut nowhere without being noticed, but in the name of the credential") func cuts() {
    let whole = "9f8/unit/tls.service/express.key"
    for count in 0...21 { #expect(CredentialAddress(parsing: String(whole.prefix(count))) == nil) }
  }
}
