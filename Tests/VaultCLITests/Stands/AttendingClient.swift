import Testing
import VaultTesting

/// An agent that is the test itself: a connection over which the daemon tells its events.
final class AttendingClient {
  private let connection: WireClient

  init(_ sandbox: Sandbox) throws {
    connection = try sandbox.client()
    let first = try connection.call("Attend", ["faces": ["terminal"]], more: true)
    try #require(first.string("event") == "attending", "\(first)")
  }

  /// The next event.
  func event() throws -> WireClient.Message {
    let reply = try connection.reply()
    try #require(reply.error == nil, "\(reply)")
    return reply.parameters
  }

  /// The next event, which must be an inquiry.
  func inquiry() throws -> WireClient.Message {
    let event = try event()
    return try #require(event["inquiry"] as? WireClient.Message, "\(event)")
  }

  /// The next event of a kind; those before it are skipped.
  func next(_ kind: String) throws -> WireClient.Message {
    while true {
      let event = try event()
      if event["event"] as? String == kind { return event }
    }
  }

  /// The next inquiry; events of other kinds before it are skipped.
  func nextInquiry() throws -> WireClient.Message { try #require(next("inquiry")["inquiry"] as? WireClient.Message) }

  /// Sends the beginning of another call.
  func sendHalfCall() { connection.send(Array("{".utf8)) }

  /// The reason in the next event, which must be a withdrawal.
  func withdrawal() throws -> String? { try event()["why"] as? String }
}

extension [String: Any] {
  /// The number of an inquiry.
  var number: Int? { self["number"] as? Int }
  /// The number of calls that wait for the answer to an inquiry.
  var askerCount: Int? { self["count"] as? Int }
  /// The first callers that wait for the answer to an inquiry.
  var askers: [WireClient.Message] { self["askers"] as? [WireClient.Message] ?? [] }
}

extension Sandbox {
  /// Sends a call from a process and session of its own, and returns the connection, over which its reply will come.
  func ask(_ method: String, _ parameters: WireClient.Message, more: Bool = false) throws -> WireClient {
    let client = try OtherProcess(in: self).connect()
    try client.begin(method, parameters, more: more)
    return client
  }

  /// Sends a call over a connection of its own, and returns the outcome of its first reply.
  func outcome(_ method: String, _ parameters: WireClient.Message = [:], more: Bool = false) throws -> String {
    try client().call(method, parameters, more: more).outcome
  }

  /// Holds a conversation as an interactive client, and returns the outcome: nothing if it succeeded.
  func answer(
    _ method: String, with secret: String = password, _ parameters: WireClient.Message = [:]
  ) throws -> String? {
    try converse(method, parameters.merging(["interactive": true]) { $1 }) { _ in secret }?.outcome
  }
}
