import Glibc
import Testing
import VaultWire

@testable import VaultCLI

@Suite("What a person is told of times that the audit log does not have") struct AuditGapTests {
  @Test("is a sentence for each reason") func texts() {
    let begin = LocalTime.text(1_900_000_000, to: STDERR_FILENO)
    let cut = "the audit log was cut: reads before \(begin) may not be known"
    let off = "the audit log was off for a time: reads during that time are not known"
    let offNow = "the audit log is off: reads are not recorded meanwhile"
    let lost = "the audit log has lost entries: some reads may not be known"
    let earlier = LocalTime.text(1_800_000_000, to: STDERR_FILENO)
    let restored = "the vault was restored from a backup on \(begin): reads"
    let restores = [
      Wire.AuditRestore(since: 1_800_000_000, until: 1_900_000_000), Wire.AuditRestore(until: 1_900_000_000),
    ]
    for (gaps, areOff, texts) in [
      (Wire.AuditGaps(), false, []), (Wire.AuditGaps(off: false, lost: false), true, []),
      (Wire.AuditGaps(begin: 1_900_000_000), false, [cut]), (Wire.AuditGaps(off: true), false, [off]),
      (Wire.AuditGaps(off: true), true, [offNow]), (Wire.AuditGaps(lost: true), false, [lost]),
      (Wire.AuditGaps(begin: 1_900_000_000, off: true, lost: true), false, [cut, off, lost]),
      (
        Wire.AuditGaps(restores: restores), false,
        ["\(restored) between \(earlier) and \(begin) are not known", "\(restored) before that are not known"]
      ),
    ] as [(Wire.AuditGaps, Bool, [String])] {
      #expect(AuditGap.texts(gaps, areOff: areOff) == texts)
    }
  }

  @Test("a comparison with notes says how many it could not compare") func notes() {
    func told(_ compared: Int?, _ uncompared: Int?) -> String {
      AuditReport.text(
        Wire.AuditReply(entries: [], total: 9, unvouched: 0, cut: 3, compared: compared, uncompared: uncompared))
    }
    let entries = "entries:   6, from 4 on\n"
    #expect(told(nil, nil) == entries)
    #expect(told(2, 0) == entries + "compared:  2 notes of the journal\n")
    #expect(told(1, 0) == entries + "compared:  1 note of the journal\n")
    #expect(told(0, 3) == entries + "compared:  0 notes of the journal, not 3 about entries that were removed\n")
  }
}
