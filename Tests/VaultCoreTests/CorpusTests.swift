import Foundation
import Testing

@testable import VaultCore

@Suite struct CorpusTests {
  @Test("Every kept input of the record fuzzer is an error or a record with that one encoding") func replay() throws {
    let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/Corpus/RecordFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
    var heads = 0
    var slots = 0
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      if let head = try? bytes.lend({ (bytes: RawSpan) throws(CryptoError) in try HeadRecord(decoding: bytes) }) {
        #expect(head.encoded().array == bytes, "\(file.lastPathComponent)")
        heads += 1
      }
      if let slot = try? bytes.lend({ (bytes: RawSpan) throws(CryptoError) in try SlotRecord(decoding: bytes) }) {
        #expect(slot.encoded() == bytes, "\(file.lastPathComponent)")
        slots += 1
      }
    }
    // Both good and bad records of both kinds are kept: else this would prove little.
    #expect(heads >= 3 && slots >= 2 && files.count >= heads + slots + 6)
  }

  @Test("Every kept input of the backup fuzzer is an error or a header with that one encoding") func replayBackups()
    throws
  {
    let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/Corpus/BackupFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
    var headers = 0
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      if let header = try? bytes.lend({ (bytes: RawSpan) throws(CryptoError) in try BackupHeader(decoding: bytes) }) {
        #expect(header.encoded() == bytes, "\(file.lastPathComponent)")
        headers += 1
      }
    }
    #expect(headers == 4 && files.count >= headers + 8)
  }
}
