import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Calls that stop waiting together") struct RefusalsTests {
  /// Calls that wait for the approval of a request, each of a connection of its own, with the audit log required.
  private final class Calls {
    let stand: AttendanceStand
    private let line = Line(of: 990)
    private var calls: [AskedCall?] = []
    /// The order in which calls were refused, and other work was done.
    var order: [String] = []
    /// The number of times at which the log was written since the last call of ``watch()``.
    private(set) var writes = 0
    /// True while each refusal was preceded by its entry on the disk.
    private(set) var isWritten = true

    /// - Parameter count: the number of calls that wait for an approval.
    init(_ count: Int) throws {
      var settings = VaultSettings()
      settings.audit.mode = .required
      stand = try AttendanceStand(settings, system: true)
      let patience = Patience(milliseconds: 1000, asks: false, stand.vault.clock)
      for number in 0..<count { try add("\(number)", .approval(7), patience) }
    }

    /// Adds calls that wait for presence.
    func addPresence(_ count: Int) throws {
      let patience = Patience(milliseconds: 9000, asks: true, stand.vault.clock)
      for number in 0..<count { try add("\(number)", .presence(try ItemName("a"), .password), patience) }
    }

    private func add(_ word: String, _ wait: Wait, _ patience: Patience) throws {
      let (caller, audit) = (AttendanceStand.process(60, uid: 990), stand.vault.audit)
      try audit.begin(CallTerms("a call", needs: .log, entry: .withValue), for: caller)
      let about = AskedCall.About(.get, "a")
      audit.isAbout(about.action, about.item, for: caller)
      let terms = AskedCall.Terms(
        caller, patience, about: about, saying: { Said(purpose: "to work") }, isStillAsking: { true })
      let call = AskedCall.begin(about, for: caller, in: stand.rooms.rooms.asking) { () throws(Refusal) in
        wait
      } refuse: {
        order.append("\(word) \($0)")
      } kept: {
        AskedCall(terms, in: stand.rooms.rooms.asking, line) { _ throws(Refusal) in
          nil
        } refuse: { [unowned self] refusal in
          try? audit.pass(refusal.outcome, isLast: true, for: caller)
          if audit.block.count > 0 || audit.keychain()?.hasUnwrittenAudit != false { isWritten = false }
          order.append(word)
        }
      }
      calls.append(call)
    }

    func watch() {
      writes = 0
      stand.vault.audit.follow(ObjectIdentifier(self)) { [unowned self] in writes += 1 }
    }

    func callOff(_ index: Int) { calls[index]?.callOff() }
    func forget(_ index: Int) { calls[index] = nil }

    /// Lets other work wait for its turn.
    func wait(_ word: String) { stand.rooms.turns.wait(Line(of: 5)) { [unowned self] in order.append(word) } }

    func entries() throws -> Int {
      try AuditTests.told(stand.rooms).count { $0.hasPrefix("get ") && $0.hasSuffix(" a") }
    }
  }

  @Test("are refused some in a turn, after one write of their entries, and others have their turn in between")
  func late() throws {
    let calls = try Calls(Refusals.most + 8)
    calls.stand.rooms.hands.pass(seconds: 1)
    calls.watch()
    calls.wait("other")
    #expect(calls.order.isEmpty)
    calls.stand.rooms.run()
    let words = (0..<Refusals.most + 8).map { "\($0)" }
    #expect(calls.order == words.prefix(Refusals.most) + ["other"] + words.suffix(8))
    #expect(calls.writes == 2 && calls.isWritten)
    #expect(try calls.entries() == Refusals.most + 8)
  }

  @Test("leave the rest to another turn when a turn's time is up, and write nothing more for it") func slow() throws {
    let calls = try Calls(5)
    calls.stand.rooms.hands.pass(seconds: 1)
    calls.watch()
    calls.stand.rooms.hands.stride.value = Turns.length
    calls.stand.rooms.turns.turn()
    #expect(calls.order == ["0"] && calls.writes == 1)
    calls.stand.rooms.run()
    #expect(calls.order.count == 5 && calls.writes == 1 && calls.isWritten)
  }

  @Test("are refused so after a dismissal, and after the last agent has left") func people() throws {
    for leaves in [false, true] {
      let calls = try Calls(0)
      let stand = calls.stand
      let administrator = AttendanceStand.process(10, uid: 0)
      let agent = try stand.attend(administrator)
      try stand.rooms.set("a", require: .password)
      try calls.addPresence(20)
      stand.turn()
      if leaves {
        stand.leave(agent)
      } else {
        let number = try #require(agent.numbers.last)
        try stand.attendance.dismiss(number, isUnable: false, for: administrator)
      }
      calls.watch()
      #expect(calls.order.isEmpty && stand.vault.questions.inquiries.isEmpty)
      stand.rooms.run()
      #expect(calls.order.count == 20 && calls.writes == 1 && calls.isWritten)
    }
  }

  @Test("are not refused once they have ended otherwise") func ended() throws {
    let calls = try Calls(3)
    calls.stand.rooms.hands.pass(seconds: 1)
    calls.callOff(0)
    calls.forget(1)
    calls.stand.rooms.run()
    #expect(calls.order == ["2"])
  }
}
