import Testing
import VaultWire

@testable import VaultImport

@Suite("Secrets of HashiCorp Vault") struct HashiCorpTests {
  // Built from the published description of the HTTP API.
  private static let second = """
    {"request_id": "a", "lease_id": "", "lease_duration": 0, "renewable": false, "data": {"data": {"password": "pw",
    "username": "ana", "port": 5432, "tls": true, "nested": {"a": ["b"]}, "empty": ""}, "metadata": {
    "created_time": "2024-05-06T07:08:09.123456789Z", "custom_metadata": {"owner": "ops"}, "deletion_time": "",
    "destroyed": false, "version": 3}}, "warnings": null}
    """
  private static let deleted = """
    {"request_id": "b", "lease_id": "", "lease_duration": 0, "data": {"data": null, "metadata": {
    "created_time": "2024-05-06T07:08:09Z", "deletion_time": "2024-06-01T00:00:00Z", "destroyed": false, "version": 1}}}
    """
  private static let first = """
    {"request_id": "c", "lease_id": "", "lease_duration": 2764800, "data": {"value": "x", "url": "https://u:p@h/"}}
    """

  private func read(_ text: String) throws -> [String] {
    try ReadEntries(HashiCorpReader.self, text, name: "app/db.json").told
      .filter { !$0.contains("it is a setting of the program") }
  }

  @Test("a secret of the second version is a login with everything that it has") func secondVersion() throws {
    #expect(
      try read(Self.second) == [
        "login app/db", "  password [password] pw", "  username [username] ana", "  port [secret] 5432",
        "  tls [secret] true", "  nested [document] {\"a\":[\"b\"]}", "  empty [secret] ",
        "  created_time [created] 1714979289", "  owner [text] ops",
      ])
  }

  @Test("a list, a deleted version and the first version are read") func forms() throws {
    #expect(
      try read("[\(Self.first), \(Self.deleted)]") == [
        "login app/db", "  value [secret] x", "  url [url] https://u:p@h/", "login app/db",
        "  created_time [created] 1714979289",
        "  deletion_time [setting] the version is deleted, and its data is gone",
      ])
    #expect(
      try ReadEntries(HashiCorpReader.self, Self.first).format?.detail == "secrets of HashiCorp Vault, kv version 1")
  }

  @Test("it is recognized by the members of the answer, and other JSON is refused") func recognized() {
    #expect(recognizes(HashiCorpReader.self, Self.first) && recognizes(HashiCorpReader.self, " [\(Self.second)"))
    #expect(!recognizes(HashiCorpReader.self, "{\"data\": {}}") && !recognizes(HashiCorpReader.self, "[1]"))
    #expect(refusal(HashiCorpReader.self, "[1]") == "a: it is not what `vault kv get -format=json` prints")
  }

  @Test("no damaged file crashes the reader") func attacked() { attack(HashiCorpReader.self, Self.first) }
}
