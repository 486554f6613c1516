import Testing
import VaultWire

@testable import VaultImport

@Suite("Servers of .pypirc") struct PypircTests {
  private static let text = """
    [distutils]
    index-servers =
        pypi
        internal

    [pypi]
    username = __token__
    password = pypi-AgE%%x

    [internal]
    # c
    repository: https://PyPI.internal.example:443/simple/
    username: ana
    password: two words
    ca_cert = /x.pem

    [keyringed]
    username = bob

    """

  @Test("servers become the items that the keyring helper looks up for the repository") func servers() throws {
    #expect(
      try ReadEntries(PypircReader.self, Self.text, name: ".pypirc").told == [
        "login keyring/https:%2F%2Fupload.pypi.org%2Flegacy%2F/__token__", "  server [text] pypi",
        "  repository [url] https://upload.pypi.org/legacy/", "  username [username] __token__",
        "  password [password] pypi-AgE%%x", "login keyring/https:%2F%2Fpypi.internal.example%2Fsimple%2F/ana",
        "  server [text] internal", "  repository [url] https://PyPI.internal.example:443/simple/",
        "  username [username] ana", "  password [password] two words",
        "  ca_cert [setting] it is a setting of the program that it comes from", "value .pypirc",
        "  distutils: index-servers [setting] it is a setting of the program that it comes from",
        "  keyringed: username [setting] it is a setting of the program that it comes from",
        "  comments [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test(
    "what is damaged is an error with its line",
    arguments: [("a = b", "line 1: it belongs to no section"), ("[a]\nb", "line 2: it has no = after an option")])
  func damaged(_ text: String, _ reason: String) {
    #expect(refusal(PypircReader.self, text) == reason)
  }

  @Test("it is recognized by its name or its sections") func recognized() {
    #expect(recognizes(PypircReader.self, "", name: ".pypirc") && recognizes(PypircReader.self, Self.text))
    #expect(!recognizes(PypircReader.self, "[pypi]\na = b"))
  }

  @Test("no damaged file crashes the reader") func attacked() { attack(PypircReader.self, Self.text) }
}
