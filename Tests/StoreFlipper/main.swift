// Flips one bit of a store's file after the other and reports the wrong answers of each damaged store: `store-flipper
// WHOLE COPY FILE,FILE… LOST NAME=VALUE…`. WHOLE is the directory of a store whose vault key is 32 bytes of the value
// 5; COPY is an empty directory of the same owner and mode. Each line of standard input is the number of a byte of the
// first file. The item LOST may be missing without a report of damage. The last line of output is the number of bytes
// flipped.
import CLinux
import Glibc
import VaultCore
import VaultModel
import VaultStore

struct Problem: Error { let text: String }

func read(_ path: String) throws -> [UInt8] {
  let file = unsafe open(path, O_RDONLY)
  var status = stat()
  guard file >= 0, unsafe fstat(file, &status) == 0 else { throw Problem(text: "\(path) cannot be read") }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
  guard unsafe Glibc.read(file, &bytes, bytes.count) == bytes.count else { throw Problem(text: "\(path) is cut short") }
  return bytes
}

func write(_ bytes: [UInt8], to path: String) throws {
  let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard file >= 0, unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
    throw Problem(text: "\(path) cannot be written")
  }
  close(file)
}

func key() -> SecureBytes {
  unsafe SecureBytes(copying: [UInt8](repeating: 5, count: 32).span.bytes)  // Bytes have no padding.
}

func text(_ keychain: Keychain, _ name: String) throws -> String {
  try keychain.withValue(of: ItemName(name), now: 0) { _, _, bytes in
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

/// Returns the first wrong answer of the store in `directory`; nil if there is none, or if the store is rightly
/// refused.
func problem(_ directory: String, _ values: [(name: String, value: String)], mayBeLost: String) -> String? {
  do {
    let keychain = try Keychain(opening: directory)
    try keychain.unlock(vaultKey: key())
    var missing: [String] = []
    for (name, value) in values {
      do {
        guard try text(keychain, name) == value else { return "another value" }
      } catch VaultError.corrupt {} catch VaultError.noSuchItem { missing.append(name) }
    }
    // A missing item is no wrong answer if the check finds the damage. Damage in the log's last transaction looks the
    // same as a power cut while that transaction was written, before it was acknowledged.
    let isTold = try missing.allSatisfy { $0 == mayBeLost } || !keychain.verify().isOK
    return isTold ? nil : "\(missing) is gone, and all is well"
  } catch VaultError.corrupt {
    return nil
  } catch VaultError.newer {
    return nil
  } catch {
    return "\(error)"
  }
}

let arguments = CommandLine.arguments
let (whole, copy, lost) = (arguments[1], arguments[2], arguments[4])
let names = arguments[3].split(separator: ",").map(String.init)
let values = arguments.dropFirst(5).map { argument in
  let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
  return (name: parts[0], value: parts[1])
}
let files = try names.map { try read(whole + "/" + $0) }
var count = 0
while let line = readLine(), let offset = Int(line) {
  for name in ["vault.db", "vault.db-wal", "vault.lock"] { unsafe unlink(copy + "/" + name) }
  for (index, name) in names.enumerated() {
    var bytes = files[index]
    if index == 0 { bytes[offset] ^= UInt8(1 << (offset % 8)) }
    try write(bytes, to: copy + "/" + name)
  }
  if let problem = problem(copy, values, mayBeLost: lost) { print("byte \(offset): \(problem)") }
  count += 1
}
print("\(count) bytes were flipped")
