import Foundation
import Testing
import VaultSigning

@testable import VaultSSH

/// One connection of an OpenSSH program to its agent, recorded in `Vectors/ssh-agent.txt`.
struct RecordedConnection: Sendable, CustomTestStringConvertible {
  let name: String
  /// The client's requests and the agent's replies.
  private(set) var exchanges: [(request: [UInt8], reply: [UInt8])] = []

  var testDescription: String { name }

  /// All recorded connections, in the order of the file.
  static let all: [RecordedConnection] = {
    var all: [RecordedConnection] = []
    for line in text("ssh-agent.txt").split(separator: "\n") {
      let content = line.dropFirst(2)
      switch line.prefix(2) {
      case "# ": all.append(RecordedConnection(name: String(content)))
      case "> ": all[all.count - 1].exchanges.append((bytes(content), []))
      default: all[all.count - 1].exchanges[all[all.count - 1].exchanges.count - 1].reply = bytes(content)
      }
    }
    return all
  }()

  /// Returns the connection of this name.
  static func named(_ name: String) throws -> RecordedConnection {
    try #require(all.first { $0.name == name }, "no connection is called \(name)")
  }

  /// Returns a connection's first frame of this type.
  static func frame(_ name: String, type: UInt8) throws -> [UInt8] {
    try #require(try named(name).exchanges.first { $0.request.first == type }).request
  }

  /// Returns the data that a connection's client asks to be signed.
  static func data(_ name: String) throws -> [UInt8] {
    let frame = try frame(name, type: 13)
    guard case .sign(let request) = try AgentRequest(unsafe frame.span.bytes) else { throw UnexpectedRequest() }
    return Array(frame[request.data])
  }

  /// Returns the text of a file beside the recording.
  static func text(_ name: String) -> String {
    guard let folder = Bundle.module.url(forResource: "Vectors", withExtension: nil),
      let data = try? Data(contentsOf: folder.appending(path: name))
    else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  private static func bytes(_ hex: Substring) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

/// An error for any request other than the expected one.
struct UnexpectedRequest: Error {}

/// Encodes SSH's data types as bytes.
func sshBytes(_ body: (inout SSHWriter) -> Void) -> [UInt8] {
  var writer = SSHWriter()
  body(&writer)
  return writer.bytes
}

/// Makes the blob of an Ed25519 public key without a private key; each name gives a different one.
func hostBlob(_ name: String, type: String = "ssh-ed25519") -> [UInt8] {
  sshBytes {
    $0.string(type)
    $0.string(Array((name + String(repeating: ".", count: 32)).utf8.prefix(32)))
  }
}

/// Decodes a frame.
func agentRequest(_ frame: [UInt8]) throws -> AgentRequest { try AgentRequest(unsafe frame.span.bytes) }

/// Returns the reason why a frame is refused; nil if it is accepted.
func agentRefusal(_ frame: [UInt8]) -> String? {
  do throws(SSHFormatError) {
    _ = try AgentRequest(unsafe frame.span.bytes)
    return nil
  } catch {
    return error.reason
  }
}
