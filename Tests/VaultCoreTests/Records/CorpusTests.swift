import Testing
import VaultTesting

@Suite("The kept inputs of the fuzzers of records") struct CorpusTests {
  @Test("Each is an error or a record with that one encoding") func records() throws {
    let inputs = try Repository.corpus(of: "RecordFuzz").map(\.bytes)
    let found = Dictionary(grouping: inputs) { exerciseRecord(unsafe $0.span.bytes) }
    // The corpus must contain valid and invalid records of all kinds; otherwise this test would prove little.
    #expect(found[.head, default: []].count >= 3 && found[.slot, default: []].count >= 2)
    #expect(found[.deposit, default: []].count >= 2 && found[.box, default: []].count >= 1)
    #expect(found[.hashes, default: []].count >= 1 && found[nil, default: []].count >= 6)
  }

  @Test("Each is an error or a backup's header with that one encoding") func backups() throws {
    let inputs = try Repository.corpus(of: "BackupFuzz").map(\.bytes)
    #expect(inputs.count { exerciseBackup(unsafe $0.span.bytes) } == 4 && inputs.count >= 12)
  }
}
