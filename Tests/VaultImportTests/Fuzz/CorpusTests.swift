import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzers of readers") struct CorpusTests {
  /// Reads all inputs of a fuzzer; returns the names of those that were taken. An input that a fuzzing run added has a
  /// hash as its name, and may be taken or not.
  private static func taken(_ fuzzer: String, _ exercise: ([UInt8]) -> Bool) throws -> Set<String> {
    Set(try Repository.corpus(of: fuzzer).filter { exercise($0.bytes) && $0.name.count < 40 }.map(\.name))
  }

  @Test("Of databases, those open whose content is one") func databases() throws {
    #expect(
      try Self.taken("KDBXFuzz", exerciseKDBX) == [
        "chacha20", "aes-gzip", "twofish", "no-protection", "kdbx3", "kdbx3-gzip",
      ])
    #expect(
      try Self.taken("KDBXDocumentFuzz", exerciseKDBXDocument) == [
        "attachment", "bin", "history", "login", "otp", "pool", "protected", "references", "settings",
      ])
  }

  @Test("Of exports of Bitwarden, those are read that are whole and in the clear") func bitwarden() throws {
    let taken = try Self.taken("BitwardenFuzz", exerciseBitwarden)
    #expect(taken.isSuperset(of: ["organization", "escapes", "item-00", "item-09"]))
    #expect(taken.isDisjoint(with: ["empty", "twice", "deep", "pbkdf2", "argon2id", "account"]))
  }

  @Test("Of tables, those are read that have a header and end") func tables() throws {
    let taken = try Self.taken("CSVFuzz", exerciseCSV)
    #expect(taken.count >= 11 && taken.isDisjoint(with: ["empty", "unended", "no-header"]))
  }

  @Test("Of files of a password store, most have a password") func store() throws {
    #expect(
      try Self.taken("PassFuzz", exercisePass) == ["plain", "yaml", "gopass", "steam", "key", "bytes"])
  }

  @Test("Of one-time secrets, lists and exports are read") func oneTime() throws {
    let taken = try Self.taken("OneTimeFuzz", exerciseOneTime)
    #expect(taken.isSuperset(of: ["uri", "hotp", "steam-uri", "list", "migration", "data-first", "data-published"]))
    #expect(taken.isDisjoint(with: ["empty", "bare", "last-symbol"]))
  }

  @Test("Of files of credentials, those are read whose lines and quotes are whole") func credentialFiles() throws {
    #expect(
      try Self.taken("CredentialFileFuzz", exerciseCredentialFile) == [
        "aws", "docker", "dockercfg", "env", "env-docker", "env-systemd", "git", "netrc", "networkmanager-agent",
        "networkmanager-bytes", "networkmanager-eduroam", "networkmanager-home", "networkmanager-office", "npmrc",
        "pgpass", "pypirc", "wpa", "wpa-forms",
      ])
  }

  @Test("Of keys of ssh, those have a public half whose file holds one in the clear") func keys() throws {
    #expect(
      try Self.taken("SSHKeyFuzz", exerciseSSHKey) == [
        "dsa", "ec-body", "ec-pem", "ec-pkcs8", "ed25519", "openssh-body", "openssh-protected-body", "other-public",
        "pkcs8-ec-body", "pkcs8-rsa-body", "pkcs8-v2-body", "protected", "rsa-body",
      ])
  }

  @Test("Of files in YAML, those are read that are well-formed, bounded and of their format") func yaml() throws {
    #expect(
      try Self.taken("YAMLFuzz", exerciseYAML) == [
        "ansible-id", "esphome", "hashicorp", "hashicorp-list", "home-assistant", "home-assistant-forms",
        "home-assistant-json", "homebridge", "kubeconfig", "kubeconfig-files", "kubeconfig-numbers", "kubernetes",
        "kubernetes-json", "kubernetes-list", "zigbee2mqtt", "zigbee2mqtt-secrets",
      ])
  }

  @Test("Of compressed bytes, those are read that are whole") func inflate() throws {
    #expect(
      try Self.taken("InflateFuzz", exerciseInflate) == [
        "blocks", "dynamic", "expanding", "fixed", "gzip", "gzip-fields", "huffman", "runs", "stored",
      ])
  }

  @Test("Of archives, those are read that are whole and honest") func archives() throws {
    #expect(
      try Self.taken("ZipFuzz", exerciseZip) == ["comment", "folders", "python", "stored", "streamed", "zip64"])
  }

  @Test("Of exchanges, those are read that have accounts or items, as one of the two formats") func exchanges() throws {
    // An export of 1Password has no version, and looks for vaults in an account.
    #expect(
      try Self.taken("ExchangeFuzz", exerciseExchange) == [
        "1pux", "1pux-files", "1pux-sections", "account", "collections", "credentials", "no-object", "passkey",
        "version",
      ])
  }
}
