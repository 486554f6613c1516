import Testing
import VaultBytes
import VaultTesting

@testable import VaultCLI

/// One call of `vault set --batch` that the daemon refuses as too much, so that it is made in parts.
@Suite("A call of set --batch that is split") struct BatchCallTests {
  /// Makes a call for items that stand in these lines.
  private static func call(_ lines: [Int]) throws(BatchFault) -> BatchCall {
    let call = BatchCall()
    for number in lines {
      var line = SecretBuffer()
      line.append(utf8: #"{"name":"item-\#(number)","value":"v"}"#)
      call.add(try BatchLine.read(line, number: number, BatchTerms()))
    }
    return call
  }

  /// Plays a daemon that stores at most two items in a call, and refuses a call with the item `item-15`.
  private static func daemon(_ sandbox: Sandbox, _ refusal: String) throws -> ScriptedDaemon {
    try ScriptedDaemon(sandbox) { call, _ in
      let items = call.parameters["items"] as? [[String: Any]] ?? []
      let names = items.compactMap { $0["name"] as? String }
      if names.count > 2 { return [#"{"error":"io.vaultd.Vault.TooMuch","parameters":{"reason":"too many"}}"#] }
      if names.contains("item-15") { return [#"{"error":"io.vaultd.Vault.\#(refusal)}"#] }
      return [#"{"parameters":{"versions":\#(names.map { _ in 1 })}}"#]
    }
  }

  @Test(
    "names the line of the input in which an error is, or the lines of the part, and counts what was stored before",
    arguments: [
      (#"AlreadyExists","parameters":{"name":"item-15","failed":1}"#, "line 15: "),
      (#"InvalidValue","parameters":{"kind":"note","reason":"wrong","failed":0}"#, "line 14: "),
      (#"StorageFailed","parameters":{"reason":"the disk is gone"}"#, "lines 14 to 15: "),
    ])
  func line(refusal: String, words: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try Self.daemon(sandbox, refusal)
    defer { daemon.close() }
    let session = try Session(socket: daemon.socket, system: false, startsDaemon: false)
    session.isAttended = false
    // Line 13 is blank.
    let call = try Self.call([11, 12, 14, 15])
    var stored = 0
    var failure: Failure?
    do throws(Failure) { try call.send(session, counting: &stored) } catch { failure = error }
    #expect(failure?.message.hasPrefix(words) == true, "\(String(describing: failure))")
    #expect(stored == 2 && daemon.heard("SetMany") == 3)
  }
}
