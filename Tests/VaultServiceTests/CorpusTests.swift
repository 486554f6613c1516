import Foundation
import Testing

@testable import VaultService

@Suite("The kept inputs of the fuzzer of failed attempts") struct CorpusTests {
  private func texts(_ fuzzer: String) throws -> [(name: String, text: String)] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(fuzzer)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    // An input that a fuzzing run added may be anything. An input that is not text is left out, because it is refused
    // before parsing.
    return try files.compactMap { file in
      String(validating: [UInt8](try Data(contentsOf: file)), as: UTF8.self).map { (file.lastPathComponent, $0) }
    }
  }

  @Test("Each file of failed attempts holds everybody back who is in it, and nobody for too long") func backoff() throws
  {
    let texts = try texts("BackoffFuzz")
    #expect(texts.count >= 11)
    for (name, text) in texts {
      let backoff = try #require(bootTimes.map { exerciseBackoff(text, now: $0) }.last)
      // If the file cannot be read, everybody is suspected.
      let isDoubted = ["garbage", "count-low", "uid-huge", "everybody", "everybody-twice", "everybody-earlier"]
      if name.count < 40 { #expect((backoff.suspicion != nil) == isDoubted.contains(name), "\(name)") }
    }
  }
}
