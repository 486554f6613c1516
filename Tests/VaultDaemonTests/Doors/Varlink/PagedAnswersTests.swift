import Glibc
import NIOCore
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("An answer in pages") struct PagedAnswersTests {
  /// Returns the order in which two clients read their replies, if one asks for much and the other then asks for
  /// little.
  private static func order(
    _ method: String, _ prepare: @escaping @Sendable (ConnectionStand.Inside) throws -> Void
  ) throws -> [String] {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      try prepare(client)
      let told = Told(try client.another())
      client.kept = told
      client.passAtEachLook(.milliseconds(3))
      client.call(method, more: true)
      told.other.call("Status")
    }
    try stand.goRound("both answers") { client in
      guard let told = client.kept as? Told else { return false }
      told.words += told.other.messages().map { _ in "status" }
      told.words += client.messages().map { $0.contains("\"continues\":true") ? "page" : "end" }
      return told.words.contains("end") && told.words.contains("status")
    }
    return try stand.on { client in
      let told = client.kept as? Told
      told?.other.leave()
      return told?.words ?? []
    }
  }

  private final class Told {
    let other: ConnectionStand.Inside
    var words: [String] = []

    init(_ other: ConnectionStand.Inside) { self.other = other }
  }

  /// Makes 200 targets denied for which a user has asked.
  private static func denials(_ client: ConnectionStand.Inside) throws {
    let subject = try Subject(parsing: "user:4242")
    for number in 0..<200 {
      let target = RequestTarget(subject, try ItemName("a/\(number)"))
      client.door.access.requests.deny(QuestionNumber(number), target, now: client.now)
    }
  }

  @Test("leaves others their turns between its pages: the lists of grants, of requests and of entries of the log")
  func turns() throws {
    let grants = try Self.order("Grants") { client in
      let keychain = try client.vault.keychain()
      let subject = try Subject(parsing: "user:4242")
      let records = try (0..<200).map { number in
        GrantRecord(
          .grant(
            Grant(subject: subject, pattern: try ItemPattern("a/\(number)"), rights: Rights(.get), created: 1)))
      }
      try keychain.changeGrants(removing: [], adding: records, now: 2)
      client.door.access.load(keychain)
    }
    let requests = try Self.order("Requests", Self.denials)
    let entries = try Self.order("Audit") { client in
      for number in 0..<400 {
        client.vault.audit.record(.get, .ok, client.connection.caller, item: "a/\(number)")
      }
    }
    for words in [grants, requests, entries] {
      let place = try #require(words.firstIndex(of: "status"))
      #expect(words.count { $0 == "page" } >= 4, "\(words)")
      #expect(words[place...].contains("page"), "\(words)")
    }
  }

  @Test("looks a user's name up once, however many requests of the user it tells of, and again a second later")
  func names() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let lookedUp = try stand.on { client in
      try Self.denials(client)
      client.door.makeNames = {
        AccountNames {
          client.answers.append("\($0)")
          return "somebody"
        }
      }
      for _ in 0..<2 {
        client.call("Requests", more: true)
        #expect(client.messages().joined().contains(#""subject":"user:somebody""#))
      }
      client.pass(.seconds(1))
      client.call("Requests", more: true)
      return client.answers
    }
    #expect(lookedUp == ["4242", "4242"])
  }

  @Test("tells all agents of all askers, and looks each user up once") func askers() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let lookedUp = try stand.on { client in
      let (agent, second) = (try client.another(), try client.another())
      (client.kept, client.keptToo) = (agent, second)
      for agent in [agent, second] { agent.call("Attend", #"{"faces":["terminal"]}"#, more: true) }
      client.vault.lock(because: .asked)
      client.door.makeNames = {
        AccountNames {
          client.answers.append("\($0)")
          return "somebody"
        }
      }
      client.call("Get", #"{"name":"a","wait_ms":60000}"#)
      client.pass(.seconds(1))
      for agent in [agent, second] { #expect(agent.messages().joined().contains(#""user":"somebody""#)) }
      return client.answers
    }
    #expect(lookedUp == ["\(geteuid())"])
    try stand.on { client in
      for agent in [client.kept, client.keptToo] { (agent as? ConnectionStand.Inside)?.leave() }
      (client.kept, client.keptToo) = (nil, nil)
      client.leave()
    }
  }

  /// Returns the messages that a search for the items of the folder `n` is answered with.
  private static func found(_ stand: ConnectionStand, _ parameters: String, more: Bool) throws -> [String] {
    try stand.on { client in
      client.pass(.seconds(1))
      client.answers = []
      client.call("Find", #"{"query":"name~n/*"\#(parameters)}"#, more: more)
    }
    try stand.goRound("the last page") { client in
      client.answers += client.messages()
      return client.answers.last.map { !$0.contains(#""continues":true"#) } ?? false
    }
    return try stand.on { $0.answers }
  }

  private static func names(_ messages: [String]) -> [Substring] {
    messages.flatMap { $0.matches(of: /"name":"(n\/[0-9]+)"/).map { $0.1 } }
  }

  @Test("has as many items as were asked for, or all there are, however many pages they take") func limits() throws {
    let stand = try ConnectionStand.unlocked("idle = off")
    defer { stand.close() }
    let count = 230
    try stand.on { client in for number in 0..<count { try client.makeItem("n/\(number)") } }
    for limit in [1, 99, 100, 101, 150, 200, 229, 230, 1000] {
      let names = Self.names(try Self.found(stand, #","limit":\#(limit)"#, more: true))
      #expect(names.count == min(limit, count) && Set(names).count == names.count, "\(limit) \(names.count)")
    }
    // A client that asks for page after page gets no more on a later page than on the first.
    for limit in [30, 150] {
      var (names, pages): ([Substring], [Int]) = ([], [])
      var after = ""
      repeat {
        let messages = try Self.found(stand, #","limit":\#(limit)\#(after)"#, more: false)
        let page = Self.names(messages)
        names += page
        pages.append(page.count)
        after = messages.joined().firstMatch(of: /"next":"([0-9a-f]+)"/).map { #","after":"\#($0.1)""# } ?? ""
      } while !after.isEmpty && pages.count < 100
      #expect(pages.allSatisfy { $0 <= limit }, "\(limit) \(pages)")
      #expect(names.count == count && Set(names).count == count, "\(limit) \(pages)")
    }
  }
}
