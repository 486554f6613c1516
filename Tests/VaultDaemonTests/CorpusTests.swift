import Foundation
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("The kept inputs of the fuzzers of the daemon's files") struct CorpusTests {
  private func texts(_ fuzzer: String) throws -> [(name: String, text: String)] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(fuzzer)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    // An input that a fuzzing run added may be anything. An input that is not text is left out, because it is refused
    // before parsing.
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
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if name.count < 40 { #expect(isRead == readable.contains(name), "\(name)") }
    }
  }
}
