import Foundation
import Testing

/// A folder in which `openssl` and `ssh-keygen` work; it is deleted with this object.
final class Workshop {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "vault-signing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs a shell line in the folder, which must succeed, and returns its output.
  @discardableResult
  func run(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let (status, output) = try attempt(line)
    try #require(status == 0, "\(line): \(output)", sourceLocation: sourceLocation)
    return output
  }

  /// Runs a shell line in the folder that may fail.
  func attempt(_ line: String) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = folder
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  func write(_ bytes: some Collection<UInt8>, _ name: String) throws {
    let file = folder.appending(path: name)
    // ssh-keygen refuses a key that others can read.
    try Data(bytes).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: name))) }
}

/// Shell lines that write a new private key to `key`, one for each form of each type.
let keyRecipes: [(name: String, line: String)] =
  [
    ("Ed25519 in PKCS #8", "openssl genpkey -algorithm ed25519 -out key"),
    ("Ed25519 of OpenSSH", "ssh-keygen -q -t ed25519 -N '' -C 'a comment' -f key"),
    ("RSA in PKCS #8", "openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:2048 -out key"),
    ("RSA of OpenSSL", "openssl genrsa -traditional -out key 2048"),
    ("RSA of OpenSSH", "ssh-keygen -q -t rsa -b 2048 -N '' -C 'a comment' -f key"),
  ]
  + [("P-256", "256", "prime256v1"), ("P-384", "384", "secp384r1"), ("P-521", "521", "secp521r1")].flatMap {
    [
      ("\($0.0) in PKCS #8", "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:\($0.2) -out key"),
      ("\($0.0) of OpenSSL", "openssl ecparam -genkey -name \($0.2) -out key"),
      ("\($0.0) of OpenSSL without the parameters", "openssl ecparam -genkey -noout -name \($0.2) -out key"),
      ("\($0.0) of OpenSSH", "ssh-keygen -q -t ecdsa -b \($0.1) -N '' -C 'a comment' -f key"),
    ]
  }
