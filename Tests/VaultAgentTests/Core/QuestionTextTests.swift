import Testing
import VaultWire

@testable import VaultAgent

@Suite struct QuestionTextTests {
  private static func asker(_ pid: Int, unit: String? = nil, reason: String? = nil, task: String? = nil) -> Wire.Asker {
    Wire.Asker(
      uid: 990, user: "gw", pid: pid, unit: unit, executable: "/usr/bin/gw", terminal: "/dev/pts/3",
      chain: ["gw", "bash", "sshd"], reason: reason, task: task)
  }

  private func text(
    _ about: String, askers: [Wire.Asker] = [asker(42)], count: Int? = nil, name: String? = nil, missing: Bool? = nil,
    reuse: Int? = nil, idle: Int? = nil, age: Int? = nil, isSystem: Bool = false, told: [String] = []
  ) -> [String] {
    let inquiry = Wire.Inquiry(
      number: 1, about: about, askers: askers, count: count ?? askers.count, name: name, missing: missing,
      subject: about == "approval" ? "user:990,unit:gw.service" : nil, right: about == "approval" ? "use" : nil,
      reuse: reuse, idle: idle, age: age)
    let kind: Question.Kind = about == "approval" ? .approval(session: true) : .secret
    let question = QuestionText.question(kind, inquiry, isSystem: isSystem, told: told)
    return [question.title] + question.factsAndTerms + (question.words.map { [$0] } ?? [])
  }

  @Test func `an unlock says who asks and when it locks again`() {
    #expect(
      text("unlock", idle: 600, age: 28_800) == [
        "gw asks to unlock the vault", "asked by process 42 of user gw, on /dev/pts/3",
        "apparently gw (/usr/bin/gw), started by bash ← sshd",
        "it locks again when nobody has used it for 10 min, and after 8 h in any case",
      ])
    let other = Wire.Asker(uid: 5, pid: 9, executable: "/a")
    #expect(text("unlock", askers: [other])[1...2] == ["asked by process 9 of uid 5", "apparently /a"])
    #expect(text("unlock", isSystem: true).first == "gw asks to unlock the machine's vault")
    #expect(text("unlock").last == "it stays unlocked until it is told to lock")
    #expect(text("unlock", askers: [], count: 1).first == "somebody asks to unlock the vault")
  }

  @Test func `several askers are counted, and the first three are shown`() {
    let all = (1...8).map { Self.asker($0, unit: "u\($0).service") }
    #expect(text("unlock", askers: Array(all[..<2])).first == "u1.service and 1 other ask to unlock the vault")
    let many = text("unlock", askers: all, count: 12)
    #expect(many.first == "u1.service and 11 others ask to unlock the vault")
    #expect(many.filter { $0.hasPrefix("asked by process") }.count == 3 && many.contains("and by 9 more"))
  }

  @Test func `what the daemon knows of the intent is a fact, and the caller's words are not`() {
    let words = "for: SSH login to a.test as `root`"
    let shown = text("unlock", askers: [Self.asker(7, reason: words, task: "SSH login to b.test as `ana`")])
    #expect(shown[1...2] == ["asked by process 7 of user gw, on /dev/pts/3", "for: SSH login to b.test as `ana`"])
    #expect(shown.last == words && shown.dropLast().allSatisfy { !$0.contains("a.test") })
  }

  @Test func `presence names the item and how long it counts`() {
    let shown = text("presence", askers: [Self.asker(7, unit: "a.service")], name: "bank", reuse: 300)
    #expect(shown.first == "a.service asks for `bank` from the vault, which requires proof that you are here")
    #expect(shown.last == "your answer counts for 5 min in that session")
    #expect(text("presence", name: "bank").last == "your answer counts once")
  }

  @Test func `an approval says what is asked for and what each answer means`() {
    let shown = text("approval", askers: [Self.asker(7, reason: "to renew")], name: "iot/x", missing: true)
    #expect(shown.first == "user:990,unit:gw.service asks to use `iot/x`")
    #expect(shown.contains("there is no item of that name"))
    #expect(
      shown.contains(
        "“once” counts within five minutes; “this process” until the next lock; “always” until the grant is revoked"))
    #expect(shown.last == "to renew")
    #expect(
      text("approval", name: "iot/x", isSystem: true).first?.hasSuffix("`iot/x` from the machine's vault") == true)
  }

  @Test func `an approval shows the whole of a long name`() {
    let name = "web/" + String(repeating: "a", count: 507)
    #expect(text("approval", name: name + "1").first == "user:990,unit:gw.service asks to use `\(name)1`")
    #expect(text("presence", name: name + "2").first?.contains("`\(name)2`") == true)
  }

  @Test func `an approval of a name that holds a spelling or a quotation mark differs from that of any other name`() {
    let names = ["a\u{A0}b", "a\\u{a0}b", "a`b", "a\\u{60}b", "a b"]
    let titles = names.compactMap { text("approval", name: $0).first }
    #expect(Set(titles).count == names.count && titles.allSatisfy { $0.count { $0 == "`" } == 2 }, "\(titles)")
  }

  @Test func `an approval that nobody waits for has no asker`() {
    #expect(text("approval", askers: [], count: 1, name: "x").count == 2)
  }

  @Test(arguments: [
    ("Password: ", "Password"), ("PIN", "PIN"), (" : ", "Answer"), ("", "Answer"), ("a\u{1B}b:", "a\\u{1b}b"),
  ])
  func `a prompt is a label`(prompt: String, label: String) {
    let inquiry = Wire.Inquiry(number: 1, about: "unlock", askers: [], count: 0)
    #expect(QuestionText.question(.secret, inquiry, isSystem: false, prompt: prompt).prompt == label)
  }

  @Test func `what is told stands first, and nothing told takes no line`() {
    #expect(text("unlock", told: ["", "that was wrong"])[1] == "that was wrong")
  }
}
