import Testing
import VaultModel

@Suite("Names of secrets") struct SecretNameTests {
  @Test("every word for a secret sounds like one, in any case") func words() {
    for word in SecretName.words {
      #expect(SecretName.isWord(word.uppercased()) && SecretName.sounds(word) && SecretName.sounds("my \(word)"))
    }
    #expect(!SecretName.isWord("my pin"))
  }

  @Test(
    "are those that end in a word for one, or have one within",
    arguments: [
      "Phone PIN", "apiKey", "API_KEY", "api keys", "smtp_pass", "dbpassword", "Passwd", "client_secret", "tokens",
      "recovery codes", "CVV2: cvv", "Seed phrase", "private key", "private key id", "Kennwort", "wifi-psk",
    ])
  func secrets(_ name: String) { #expect(SecretName.sounds(name)) }

  @Test(
    "are no names of facts about a secret, and no others",
    arguments: [
      "", "branch", "public key", "PublicKey", "public-keys", "access-key-id", "key-type", "token id", "postal code",
      "zipcode", "Country code", "keyFingerprint", "Schlüssel", "account", "1234",
    ])
  func others(_ name: String) { #expect(!SecretName.sounds(name)) }
}
