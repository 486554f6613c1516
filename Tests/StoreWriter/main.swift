// Writes to the store in the directory that its argument names until it is killed, and says after each change that it
// was acknowledged. `left` and `right` are always changed together.
import Glibc
import VaultCore
import VaultModel
import VaultStore

func text(_ keychain: Keychain, _ name: ItemName) throws -> String? {
  do {
    return try keychain.withValue(of: name, now: 0) { _, _, bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  } catch VaultError.noSuchItem {
    return nil
  }
}

func bytes(_ text: String) -> SecureBytes {
  unsafe SecureBytes(copying: Array(text.utf8).span.bytes)  // Bytes have no padding: all are initialized.
}

let keychain = try Keychain(opening: CommandLine.arguments[1])
try keychain.unlock(vaultKey: unsafe SecureBytes(copying: [UInt8](repeating: 5, count: 32).span.bytes))
let (left, right) = (try ItemName("left"), try ItemName("right"))
var number = try text(keychain, left).flatMap { Int($0) } ?? 0
while true {
  number += 1
  try keychain.transaction { () throws(VaultError) in
    for name in [left, right] {
      try keychain.set(ItemChange(name: name, kind: .note, update: true), value: bytes("\(number)"), now: 1000)
    }
  }
  let line = Array("\(number)\n".utf8)
  guard unsafe write(1, line, line.count) == line.count else { exit(1) }
}
