internal import VaultBytes
internal import VaultWire

/// A text that ansible-vault(1) has encrypted, of format 1.1 or 1.2 with AES256
/// (https://docs.ansible.com/ansible/latest/vault_guide/vault_using_encrypted_content.html, lib/ansible/parsing/vault
/// in ansible/ansible).
struct AnsibleEnvelope {
  private static let mark: StaticString = "$ANSIBLE_VAULT;"
  /// The rounds of PBKDF2, which are the same for all vaults.
  private static let rounds: UInt = 10_000

  /// The most bytes of a text.
  private static let longest = 64 << 20

  /// The id of the password that a text of format 1.2 names; empty without one.
  let id: String
  private let salt: [UInt8]
  private let mac: [UInt8]
  private let sealed: [UInt8]

  /// True if a text begins as such a text.
  static func isOne(_ text: [UInt8]) -> Bool { start(of: text) != nil }

  private static func start(of text: [UInt8]) -> Int? {
    let start = text.firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? text.count
    return text.withSpan { $0.hasBytes(mark, at: start) } ? start : nil
  }

  /// Reads a text; the line of its header may have blanks around it, as in YAML.
  init(_ text: [UInt8]) throws(ImportFailure) {
    guard let start = Self.start(of: text) else { throw ImportFailure(.unknown, "it is no vault of Ansible") }
    guard text.count <= Self.longest else {
      throw ImportFailure(.tooLarge, "a vault of Ansible has more than \(Self.longest >> 20) MiB")
    }
    let lines = text[start...].split(separator: 0x0A).map { Keyfile.trimmed($0) }
    let header = String(decoding: lines[0], as: UTF8.self).split(separator: ";").map(String.init)
    guard header.count >= 3 else { throw ImportFailure(.damaged, "the header of the vault is not complete") }
    guard ["1.1", "1.2"].contains(header[1]), header[2] == "AES256" else {
      throw ImportFailure(.unsupported, "a vault of Ansible of format 1.1 or 1.2 with AES256 is read, and no older one")
    }
    id = header[1] == "1.2" && header.count > 3 ? header[3] : ""
    guard let inner = Self.hex(lines.dropFirst().flatMap { $0 }) else {
      throw ImportFailure(.damaged, "the vault is not in hexadecimal digits")
    }
    let parts = inner.split(separator: 0x0A, omittingEmptySubsequences: false)
    guard parts.count == 3, let salt = Self.hex(parts[0]), let mac = Self.hex(parts[1]),
      let sealed = Self.hex(parts[2]),
      !salt.isEmpty, mac.count == 32, !sealed.isEmpty
    else { throw ImportFailure(.damaged, "the vault does not consist of a salt, a check and its content") }
    (self.salt, self.mac, self.sealed) = (salt, mac, sealed)
  }

  /// The content; nil if the password is wrong, or if the vault was changed.
  func open(_ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    // libgcrypt takes no empty password, and neither does ansible-vault.
    guard !password.isEmpty else { return nil }
    let key = try AnsibleCrypto.pbkdf2(password, salt: salt, iterations: Self.rounds, count: 80)
    let found = try AnsibleCrypto.hmac(key: Array(key[32..<64]), sealed)
    guard zip(found, mac).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else { return nil }
    var content = sealed
    try AnsibleCrypto.decrypt(&content, key: Array(key[..<32]), counter: Array(key[64...]))
    // The padding is that of PKCS #7 (RFC 5652, section 6.3).
    guard let pad = content.last, (1...16).contains(pad), content.count >= pad,
      content.suffix(Int(pad)).allSatisfy({ $0 == pad })
    else {
      throw ImportFailure(.damaged, "the password is right, but the content of the vault does not end as it should")
    }
    return Array(content.dropLast(Int(pad)))
  }

  /// The bytes of hexadecimal digits; nil for any other text. There may be hundreds of millions.
  private static func hex(_ digits: some Collection<UInt8>) -> [UInt8]? {
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
