import Foundation
import Testing

@Suite("The kept inputs of the fuzzer of keys") struct CorpusTests {
  @Test("Each is an error, or a key that is read as the same one when it was written") func replay() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/KeyFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 15)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      let isKey = exerciseKey(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      let name = file.lastPathComponent
      if name.count < 40 { #expect(isKey == !name.hasPrefix("bad"), "\(name)") }
    }
  }
}
