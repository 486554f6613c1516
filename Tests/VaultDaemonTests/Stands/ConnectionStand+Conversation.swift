import NIOCore
import Synchronization
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

// Calls that ask a person.
extension ConnectionStand {
  /// A password that the vault takes.
  static let password = "correct horse battery"

  /// A question in a reply.
  private struct Asked {
    let conversation: Substring
    /// The code to type back; nil if the question shows none.
    let code: Substring?

    /// Reads a reply; nil if it asks nothing.
    init?(_ reply: String) {
      guard let conversation = reply.firstMatch(of: /"conversation":"([0-9a-f]+)"/)?.1 else { return nil }
      // These prompts only tell something.
      if reply.contains(#""style":"info""#) || reply.contains(#""style":"error""#) { return nil }
      self.conversation = conversation
      code = reply.firstMatch(of: /"code":"([^"]+)"/)?.1
    }
  }

  /// The answers that are left, and the replies that came so far.
  private final class Script: Sendable {
    private let left: Mutex<[String]>
    private let heard = Mutex<[String]>([])

    var replies: [String] { heard.withLock { $0 } }

    init(_ answers: [String]) { left = Mutex(answers) }

    func hear(_ reply: String) { heard.withLock { $0.append(reply) } }
    func next() -> String { left.withLock { $0.isEmpty ? "" : $0.removeFirst() } }
  }

  /// Lets the client's call come to its end, and returns its replies. The call's questions get these answers, in their
  /// order, but a code that a question shows is typed back.
  func converse(_ answers: [String]) throws -> [String] {
    let script = Script(answers)
    // The secrets are tried on a thread, so the loop may go round many times meanwhile.
    try wait(for: "the end of the conversation") {
      try on { client in
        for reply in client.messages() {
          script.hear(reply)
          guard let asked = Asked(reply) else { continue }
          try client.respond(to: asked.conversation, asked.code.map(String.init) ?? script.next())
        }
        if !client.hasWork, client.connection.current.onCancel == nil { return true }
        // Work that rests goes on, but no time passes for a person.
        if client.door.conversations.isEmpty { client.pass(.milliseconds(10)) }
        return false
      }
    }
    return script.replies
  }
}

extension ConnectionStand.Inside {
  /// Answers a question over another connection of the client's process, which the stand keeps.
  func respond(to conversation: Substring, _ answer: String) throws {
    let other = try (kept as? ConnectionStand.Inside) ?? another()
    kept = other
    other.call("Respond", #"{"conversation":"\#(conversation)","answer":"\#(answer)"}"#)
  }

  /// Ends the other connections that the stand keeps.
  func letOthersLeave() {
    for other in [kept, keptToo] { (other as? ConnectionStand.Inside)?.leave() }
    (kept, keptToo) = (nil, nil)
  }
}
