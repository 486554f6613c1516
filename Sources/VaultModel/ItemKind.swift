/// What an item's value is. Raw values are stored and never change.
public enum ItemKind: String, CaseIterable, Sendable {
  case password
  case apiKey = "api-key"
  case deviceToken = "device-token"
  case wifi
  case pairingCode = "pairing-code"
  case tlsKey = "tls-key"
  case certificate
  case sshKey = "ssh-key"
  case totp
  case note
  case blob
}
