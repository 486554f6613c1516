import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultTesting

@testable import VaultSigning

/// The common part of the tests of sessions.
enum SessionStand {
  /// A public key of the group: the generator itself, whose shared secret is the other side's public key.
  static let generator: [UInt8] = [2]

  static func agree(_ peerKey: [UInt8]) throws(SecretSessionError) -> SecretSession {
    try peerKey.withSpan { (peerKey: RawSpan) throws(SecretSessionError) in try SecretSession.agree(with: peerKey) }
  }

  static func agree(_ peerKey: [UInt8], exponent: [UInt8]) throws(SecretSessionError) -> SecretSession {
    let exponent = secret(exponent)
    return try peerKey.withSpan { (peerKey: RawSpan) throws(SecretSessionError) in
      try SecretSession.agree(with: peerKey, exponent: exponent)
    }
  }

  /// The error with which a public key is refused; nil if a session was opened.
  static func refusal(_ peerKey: [UInt8]) -> SecretSessionError? {
    do throws(SecretSessionError) {
      _ = try agree(peerKey)
      return nil
    } catch { return error }
  }

  /// The program of a peer that shares no code with this one: Python's integers and hashes, with AES by openssl. It
  /// computes the prime from the digits of π, as RFC 2409 section 6.2 defines it.
  static func python(_ program: String, _ arguments: [String]) throws -> [String] {
    let peer = """
      import hashlib, hmac, subprocess, sys
      one = 1 << 958
      def arctan(inverse):
          term, total, divisor, sign = one // inverse, one // inverse, 3, -1
          while term:
              term //= inverse * inverse
              total, divisor, sign = total + sign * (term // divisor), divisor + 2, -sign
          return total
      pi = 4 * (4 * arctan(5) - arctan(239)) >> 64
      P = 2 ** 1024 - 2 ** 960 - 1 + 2 ** 64 * (pi + 129093)
      def number(text): return int(text, 16)
      def key(shared):
          extracted = hmac.new(b"", shared.to_bytes(128, "big"), hashlib.sha256).digest()
          return hmac.new(extracted, b"\\1", hashlib.sha256).digest()[:16]
      def aes(flag, key, iv, data):
          command = ["/usr/bin/openssl", "enc", "-aes-128-cbc", flag, "-K", key.hex(), "-iv", iv.hex()]
          return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout

      """
    return try run(peer + program, arguments)
  }

  /// Runs a Python program and returns the words of its output.
  static func run(_ program: String, _ arguments: [String]) throws -> [String] {
    let (python, output) = (Process(), Pipe())
    python.executableURL = URL(filePath: "/usr/bin/python3")
    python.arguments = ["-B", "-c", program] + arguments
    python.environment = ["PYTHONPATH": Repository.root.appending(path: ".build/python").path, "PATH": "/usr/bin:/bin"]
    python.standardOutput = output
    python.standardError = FileHandle.nullDevice
    try python.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    python.waitUntilExit()
    guard python.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  static func hexText(_ bytes: [UInt8]) -> String { bytes.withSpan { hex($0) } }
}

/// A secret as it travels.
struct Travelling: Equatable {
  var parameters: [UInt8]
  var value: [UInt8]
}

extension SecretSession {
  borrowing func encode(_ secret: [UInt8]) throws(SecretSessionError) -> Travelling {
    var value = [UInt8](repeating: 0xA5, count: encodedCount(secret.count))
    var span = value.mutableSpan
    var room = unsafe span.mutableBytes
    let parameters = try secret.withSpan { (secret: RawSpan) throws(SecretSessionError) in
      try encode(secret, into: &room)
    }
    return Travelling(parameters: parameters, value: value)
  }

  /// Reads a secret into ordinary memory, which only tests may do.
  borrowing func decode(_ travelling: Travelling) throws(SecretSessionError) -> [UInt8] {
    let secret = try travelling.parameters.withSpan { (parameters: RawSpan) throws(SecretSessionError) in
      try travelling.value.withSpan { (value: RawSpan) throws(SecretSessionError) in
        try decode(parameters: parameters, value: value)
      }
    }
    return secret.withBytes { array($0) }
  }

  /// The error with which a secret is refused; nil if it was read.
  borrowing func refusal(_ parameters: [UInt8], _ value: [UInt8]) -> SecretSessionError? {
    do throws(SecretSessionError) {
      _ = try decode(Travelling(parameters: parameters, value: value))
      return nil
    } catch { return error }
  }
}
