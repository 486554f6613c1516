import Foundation
import Testing
import VaultModel

@testable import VaultDaemon

@Suite("The kept inputs of the fuzzers of the daemon's files") struct CorpusTests {
  private func texts(_ fuzzer: String) throws -> [(name: String, text: String)] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(fuzzer)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    // What a fuzzing run added may be anything, but not what is no text: that is refused before.
    return try files.compactMap { file in
      String(validating: [UInt8](try Data(contentsOf: file)), as: UTF8.self).map { (file.lastPathComponent, $0) }
    }
  }

  @Test("Each vaultd.conf is refused at one of its lines, or gives settings within their limits") func settings() throws
  {
    let readable: Set = ["every-key", "other-forms", "credential", "empty", "line-ends"]
    let texts = try texts("ConfigurationFuzz")
    #expect(texts.count >= 11)
    for (name, text) in texts {
      let isRead = exerciseConfiguration(text)
      // What a fuzzing run added has a hash for a name and may be either.
      if name.count < 40 { #expect(isRead == readable.contains(name), "\(name)") }
    }
  }

  @Test("Each file of failed attempts holds everybody back who is in it, and nobody for too long") func backoff() throws
  {
    let texts = try texts("BackoffFuzz")
    #expect(texts.count >= 11)
    for (name, text) in texts {
      let backoff = try #require(bootTimes.map { exerciseBackoff(text, now: $0) }.last)
      // Whoever is not in a file that cannot be read is suspected with everybody.
      let isDoubted = ["garbage", "count-low", "uid-huge", "everybody", "everybody-twice", "everybody-earlier"]
      if name.count < 40 { #expect((backoff.suspicion != nil) == isDoubted.contains(name), "\(name)") }
    }
  }
}
