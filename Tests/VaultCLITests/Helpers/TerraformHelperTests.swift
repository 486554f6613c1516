import Foundation
import Testing
import VaultTesting

// "Credentials Helpers" in Terraform's documentation describes this exchange.
@Suite("Terraform's credentials helper") struct TerraformHelperTests {
  private func terraform(_ stand: HelperStand, _ words: String..., stdin: String = "") throws -> Outcome {
    try stand.run("terraform-credentials-vault", words, stdin: stdin)
  }

  @Test("stores, gives and forgets a token, and what is not there is an empty object") func roundTrip() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    #expect(try terraform(stand, "get", "app.terraform.io").output == "{}\n")
    #expect(try terraform(stand, "store", "app.terraform.io", stdin: #"{"token":"example-token-value"}"#).status == 0)
    #expect(try stand.sandbox.must(["get", "terraform/app.terraform.io"]) == "example-token-value")
    #expect(try terraform(stand, "get", "app.terraform.io").output == #"{"token":"example-token-value"}"# + "\n")
    #expect(try terraform(stand, "--wait", "0", "get", "b.example.org").output == "{}\n")
    for _ in 1...2 {
      let forgotten = try terraform(stand, "forget", "app.terraform.io")
      #expect(forgotten.status == 0 && forgotten.output.isEmpty && forgotten.errors.isEmpty)
    }
    #expect(try stand.names("terraform") == [])
  }

  @Test(
    "credentials that are not just a token are not stored",
    arguments: [
      "", "{", "{}", "[]", #"{"token":1}"#, #"{"token":"a","user":"b"}"#, #"{"user":"b"}"#, #"{"token":""}"#,
      #"{"token":"a\nb"}"#,
    ])
  func others(json: String) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let outcome = try terraform(stand, "store", "app.terraform.io", stdin: json)
    #expect(outcome.status == 65 && outcome.output.isEmpty && !outcome.errors.isEmpty, "\(outcome)")
    #expect(try stand.names("terraform") == [])
  }

  @Test("words that it does not know are a mistake, and a locked vault is one that can be mended") func errors() throws
  {
    let stand = try HelperStand()
    defer { stand.close() }
    for words in [[], ["get"], ["frob", "a"], ["get", "a", "b"]] {
      #expect(try stand.run("terraform-credentials-vault", words).status == 64)
    }
    #expect(try terraform(stand, "store", "a", stdin: #"{"token":"t"}"#).status == 0)
    try stand.sandbox.must(["lock"])
    let locked = try terraform(stand, "get", "a")
    #expect(locked.status == 75 && locked.output.isEmpty && locked.errors.contains("locked"), "\(locked)")
  }

  @Test("it stands where Terraform looks for it when the manual was followed") func manual() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.must("/bin/sh", ["-ec", HelperManual.example("terraform", "mkdir", in: stand)])
    let helper = stand.sandbox.home + "/.terraform.d/plugins/terraform-credentials-vault"
    #expect(try stand.must(helper, ["get", "a"]) == "{}\n")
  }
}
