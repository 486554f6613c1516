import Testing
import VaultWire

@testable import VaultImport

@Suite("Profiles of AWS") struct AWSTests {
  // aws configure set (1.45.11) wrote these files; the expiry is in the form of aws-mfa.
  private static let credentials = """
    [default]
    aws_access_key_id = AKIAIOSFODNN7EXAMPLE
    aws_secret_access_key = wJalr/XUtnFEMI+K7=MDENG
    [team/sess]
    aws_access_key_id = ASIA1
    aws_secret_access_key = sec
    aws_session_token = tok
    expiration = 2030-01-31 12:00:00

    """
  private static let config = """
    [default]
    region = eu-central-1
    aws_access_key_id = AKIAOTHER
    [profile x]
    credential_process = /usr/bin/vault helper aws x
    [profile 'my prof']
    s3 =
        max_concurrent_requests = 5
    [sso-session s]
    sso_region = eu-central-1

    """

  private func read(_ files: [(String, String)]) throws -> [String] {
    try ReadEntries(AWSReader.self, files.map { Source.File($0.0, Array($0.1.utf8)) }).told
  }

  @Test("profiles of both files become the items that the aws helper looks up") func profiles() throws {
    let setting = "it is a setting of the program that it comes from"
    let alone = "nothing beside it is a secret, so it stays where it is"
    #expect(
      try read([("cli/cache/a.json", "{}"), ("config", Self.config), ("credentials", Self.credentials)]) == [
        "value cli/cache/a.json", "  a.json [setting] it is a cache, which the AWS command line renews", "value config",
        "  sso-session s: sso_region [setting] \(setting)", "login aws/default", "  profile [text] default",
        "  access-key-id [text] AKIAIOSFODNN7EXAMPLE",
        "  aws_secret_access_key [password] wJalr/XUtnFEMI+K7=MDENG", "  region [setting] \(setting)",
        "  aws_access_key_id [text] AKIAOTHER", "note aws/team/sess", "  profile [text] team/sess",
        "  aws_access_key_id, aws_secret_access_key, aws_session_token [note] {\"AccessKeyId\":\"ASIA1\","
          + "\"SecretAccessKey\":\"sec\",\"SessionToken\":\"tok\",\"Expiration\":1896091200}",
        "  expiration [expires] 1896091200", "login aws/x", "  profile [setting] \(alone)",
        "  credential_process [setting] the credentials come from the program that it names", "login aws/my prof",
        "  profile [setting] \(alone)", "  s3 [setting] \(setting)",
      ])
  }

  @Test("an expiry that is no time is listed, and the token of older programs is one") func oddities() throws {
    let text = "[p]\naws_access_key_id=a\naws_secret_access_key=b\naws_security_token=c\nexpiration=soon\n"
    #expect(
      try read([("credentials", text)]).suffix(2) == [
        "  aws_access_key_id, aws_secret_access_key, aws_security_token [note] {\"AccessKeyId\":\"a\","
          + "\"SecretAccessKey\":\"b\",\"SessionToken\":\"c\"}",
        "  expiration [setting] it is no time that can be read",
      ])
  }

  @Test("it is recognized by its options, also as a folder") func recognized() {
    #expect(recognizes(AWSReader.self, Self.credentials) && recognizes(AWSReader.self, Self.config, name: "config"))
    #expect(!recognizes(AWSReader.self, "[core]\nbare = false\n", name: "config"))
    let files = ["sso/cache/x.json", "config"].map { Source.File($0, Array(Self.config.utf8)) }
    #expect(AWSReader.recognizes(Source(files) { (_) throws(ImportFailure) in nil }))
  }

  @Test("no damaged file crashes the reader") func attacked() {
    attack(AWSReader.self, Self.credentials, name: "credentials")
    attack(AWSReader.self, Self.config, name: "config")
  }
}
