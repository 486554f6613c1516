import Foundation
import Testing
import VaultTesting

extension WireClient {
  /// Calls Backup, and returns the bytes that follow the reply (the whole backup) and the last reply.
  func backup() throws -> (bytes: [UInt8], last: Reply) {
    let reply = try call("Backup", upgrade: true)
    guard reply.error == nil else { return ([], reply) }
    return try restOfBackup(reply)
  }

  /// Reads the rest of a backup that began with `reply`.
  func restOfBackup(_ reply: Reply) throws -> (bytes: [UInt8], last: Reply) {
    var all: [UInt8] = []
    while let length = try receive(count: 4) {
      let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
      if count == 0 {
        let last = try self.reply()
        if last.error == nil { #expect(reply.integer("size") == all.count) }
        return (all, last)
      }
      guard let block = try receive(count: count) else { break }
      all += block
    }
    throw SandboxError("the backup broke off after \(all.count) bytes")
  }
}

extension Sandbox {
  /// Waits for the end of the running check.
  func awaitCheck() throws {
    let client = try client()
    var reply = try client.call("Verify", more: true)
    while reply.continues { reply = try client.reply() }
    if let error = reply.error { throw SandboxError("Verify: \(error)") }
  }

  /// Restores `backup` over the socket, and returns the last reply; throws if the daemon hangs up.
  func restore(
    _ backup: [UInt8], secret: String = "correct horse battery", method: String? = nil, sending: [UInt8]? = nil,
    check: Bool = false
  ) throws -> WireClient.Reply {
    let header = headerCount(backup)
    let client = try client()
    var parameters: WireClient.Message = ["header": Data(backup[..<header]).base64EncodedString()]
    parameters["method"] = method
    if check { parameters["check"] = true }
    var reply = try client.call("Restore", parameters, more: true, upgrade: true)
    while reply.error == nil, reply.prompt != nil, let conversation = reply.string("conversation") {
      let answered = try self.client().call("Respond", ["conversation": conversation, "answer": secret])
      if let error = answered.error { throw SandboxError("Respond: \(error)") }
      reply = try client.reply()
    }
    if reply.error != nil { return reply }
    client.send(sending ?? Array(backup[header...]))
    client.finishSending()
    return try client.reply()
  }

  func headerCount(_ backup: [UInt8]) -> Int { backup[9..<13].reversed().reduce(0) { $0 << 8 | Int($1) } }
}
