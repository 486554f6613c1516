import Foundation
import Testing
import VaultWire

@Suite struct CorpusTests {
  @Test("The kept inputs of the fuzzer hold, each with what it is known to be")
  func holdsCorpus() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/FrameFuzz")
    let refused: Set = [
      "two-frames", "too-deep", "duplicate", "lone-surrogate", "overlong", "limit", "over-limit", "empty",
    ]
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 17)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      exerciseReader(unsafe bytes.span.bytes)
      let isFrame = exerciseFrame(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      if file.lastPathComponent.count < 40 {
        #expect(isFrame != refused.contains(file.lastPathComponent), "\(file.lastPathComponent)")
      }
    }
  }
}
