import Foundation
import Glibc
import Testing
import VaultTesting

/// The configuration of a vault with an ssh-agent.
let sshAgentOn = "pam-service = vault-test-none\nssh-agent = on\n"

extension Sandbox {
  /// Makes a sandbox with an unlocked vault and an ssh-agent.
  static func withSSHAgent(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    do {
      try sandbox.startDaemon(config: sshAgentOn + settings)
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    } catch {
      sandbox.close()
      throw error
    }
    return sandbox
  }

  /// The ssh-agent's socket.
  var sshSocket: String { runtime + "/vault/ssh.socket" }

  /// Runs a program of OpenSSH, or another program that uses the agent, and waits for its end.
  ///
  /// - Parameter passphrase: the answer if the program asks for a passphrase.
  func ssh(_ program: String, _ arguments: [String], passphrase: String = "", stdin: String = "") throws -> Outcome {
    let asking = root + "/askpass"
    if !FileManager.default.fileExists(atPath: asking) {
      try Executable.write("#!/bin/sh\necho \"$SSH_TEST_PASSPHRASE\"\n", to: asking)
    }
    return try run(
      arguments, program: "/usr/bin/" + program, stdin: Array(stdin.utf8),
      environment: [
        "SSH_AUTH_SOCK": sshSocket, "SSH_ASKPASS": asking, "SSH_ASKPASS_REQUIRE": "force",
        "SSH_TEST_PASSPHRASE": passphrase,
      ])
  }

  /// Returns the output of `ssh-add -l`, standard error included.
  func listed() throws -> String {
    let outcome = try ssh("ssh-add", ["-l"])
    return outcome.output + outcome.errors
  }

  /// Makes a key with ssh-keygen, and returns the path of its file.
  @discardableResult
  func makeKey(_ name: String, _ type: [String] = ["ed25519"], passphrase: String = "") throws -> String {
    let path = home + "/" + name
    let made = try ssh("ssh-keygen", ["-q", "-N", passphrase, "-C", name, "-f", path, "-t"] + type)
    try #require(made.status == 0, "\(made)")
    return path
  }

  /// Makes a key, stores it as the item `ssh/NAME`, and returns the path of its file.
  @discardableResult
  func storeKey(_ name: String, _ type: [String] = ["ed25519"], _ options: [String] = []) throws -> String {
    let path = try makeKey(name, type)
    try must(["set", "ssh/" + name, "--kind", "ssh-key", "--file", path] + options)
    return path
  }

  /// Returns a public key's line without its comment.
  func publicKey(_ path: String) throws -> String {
    let line = try String(contentsOfFile: path + ".pub", encoding: .utf8)
    return line.split(separator: " ").prefix(2).joined(separator: " ")
  }

  /// Returns a public key as the agent lists it.
  func publicBlob(_ path: String) throws -> [UInt8] {
    let words = try publicKey(path).split(separator: " ")
    return [UInt8](try #require(Data(base64Encoded: String(words[1]))))
  }

  /// Returns the audit entries of the ssh-agent door: action, outcome, item and detail.
  func sshAudit() throws -> [String] {
    try must(["audit", "--door", "ssh-agent", "--json"]).split(separator: "\n").compactMap { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      return ["action", "outcome", "item", "detail"].compactMap { entry[$0] as? String }.joined(separator: " ")
    }
  }
}

/// The key types that the agent supports, as ssh-keygen's `-t` takes them.
let sshKeyTypes: [String: [String]] = [
  "ed25519": ["ed25519"], "p256": ["ecdsa", "-b", "256"], "p384": ["ecdsa", "-b", "384"],
  "p521": ["ecdsa", "-b", "521"], "rsa": ["rsa", "-b", "2048"],
  // A program of its own signs with such a key.
  "rsa3072": ["rsa", "-b", "3072"],
]
