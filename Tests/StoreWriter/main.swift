// Writes to the store in the directory that its first argument names, until it is killed, and prints a line after each
// acknowledged change. `left` and `right` are always changed together. With `rekey` as the second argument, the program
// also rekeys the vault again and again, between two keys: 32 bytes of the value 5 and 32 bytes of the value 6.
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

func key(_ byte: UInt8) -> SecureBytes {
  unsafe SecureBytes(copying: [UInt8](repeating: byte, count: 32).span.bytes)
}

/// Unlocks the vault with whichever of the two keys opens it now, and returns that key's byte.
func unlock(_ keychain: Keychain) throws -> UInt8 {
  do {
    try keychain.unlock(vaultKey: key(5))
    return 5
  } catch VaultError.corrupt {
    try keychain.unlock(vaultKey: key(6))
    return 6
  }
}

/// Checks the store, then resumes the rekey that an earlier run began, or begins a new one.
func rekey(_ keychain: Keychain, from old: UInt8) throws -> Rekey {
  if !keychain.isVerified { _ = try keychain.verify() }
  if let next = try keychain.nextKey(vaultKey: key(old)) {
    return try Rekey(resuming: keychain, nextKey: next)
  }
  let slot = try SlotRecord.make(
    id: 1, kind: .recovery, label: "", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
    vaultKey: key(11 - old), vaultID: keychain.vaultID)
  return try Rekey(
    keychain, carrying: keychain.slots, slots: [slot], nextKey: key(11 - old), vaultKey: key(old), bootKey: key(1),
    now: 1000)
}

let keychain = try Keychain(opening: CommandLine.arguments[1])
var old = try unlock(keychain)
var rekeying = CommandLine.arguments.count > 2 ? try rekey(keychain, from: old) : nil
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
  guard let current = rekeying, try current.step(records: 7) else { continue }
  try current.finish()
  old = 11 - old
  rekeying = nil
  rekeying = try rekey(keychain, from: old)
}
