import Testing
import VaultWire

@testable import VaultCLI

@Suite("What `vault verify` says") struct VerifyReportTests {
  private func report(
    _ findings: [Wire.Finding] = [], harmed: Int = 0, omitted: Int = 0, unchecked: [String] = [],
    reason: String? = nil, changed: [String] = []
  ) -> VerifyReport {
    VerifyReport(
      findings: findings,
      result: Wire.Verification(
        records: 9, unharmed: 3, harmed: harmed, omitted: omitted, unchecked: unchecked, reason: reason,
        changed: changed))
  }

  @Test("a whole store is told in two lines, and that is a success") func whole() {
    #expect(report().text == "checked:   9 records\nunharmed:  3 items\n")
    #expect(report().failure == nil)
  }

  @Test("what is wrong is named, with the item, however hostile its name is, and ends with 65") func wrong() {
    let report = report(
      [
        Wire.Finding(kind: "missing", item: 7, name: "a\u{1B}[2Jb", text: "version 1 of item 7 is missing"),
        Wire.Finding(kind: "damaged", text: "slot 2 is not the one that was stored last"),
      ], harmed: 1, omitted: 4, unchecked: ["always"], reason: "locked", changed: ["when-unlocked"])
    #expect(
      report.text == """
        missing: version 1 of item 7 is missing (a\\u{1b}[2Jb)
        damaged: slot 2 is not the one that was stored last
        and 4 more

        checked:   9 records
        unharmed:  3 items; any item of class when-unlocked may be an older copy of itself
        harmed:    1 item
        unchecked: whether all records of class always are the latest: locked

        """)
    #expect(report.failure?.exit == .invalid)
    #expect(report.failure?.message.hasPrefix("6 things are wrong with the store; ") == true)
  }

  @Test("what could not be checked is no success, and ends with 75") func unchecked() {
    let report = report(unchecked: ["when-unlocked"], reason: "the vault is locked")
    #expect(report.failure?.exit == .retry)
    #expect(!report.isWhole)
    #expect(report.text.contains("unchecked: whether all records of class when-unlocked are the latest: the vault is"))
  }

  @Test("a check's progress is a bar, also with numbers that cannot be") func bar() {
    let half = Wire.Integrity(state: "checking", done: 5, of: 10)
    #expect(Integrity.bar("checking", half, "records") == "checking [###############---------------] 50 %, 5 records")
    for (done, total) in [(0, 0), (-5, -5), (.max, 1), (.max, .max), (.min, .max)] {
      let text = Integrity.bar("checking", Wire.Integrity(state: "checking", done: done, of: total), "")
      #expect(text.hasPrefix("checking ["))
    }
    #expect(Integrity.percent(Wire.Integrity(state: "checking")) == "0 %")
  }

  @Test("each state of the check has its words in the status") func states() {
    #expect(Integrity.text(Wire.Integrity(state: "checking", done: 1, of: 3)) == "being checked, 33 %")
    #expect(Integrity.text(Wire.Integrity(state: "ok")) == "all records are as they were written")
    #expect(Integrity.text(Wire.Integrity(state: "failed")).contains("`vault verify`"))
    #expect(Integrity.text(Wire.Integrity(state: "unchecked")).contains("next unlock"))
    #expect(Integrity.text(Wire.Integrity(state: "new\u{7}")) == "new\\u{7}")
  }
}
