import Foundation
import Testing

@Suite("The kept inputs of the fuzzer of tokens") struct TokenCorpusTests {
  @Test("each is refused, or read as what it is") func replay() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus/TokenFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 12)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      let read = exerciseToken(unsafe bytes.span.bytes)
      // An input that a fuzzing run added has a hash as its name, and may be any of the three.
      let name = file.lastPathComponent
      if name.count < 40 { #expect(read == ["token", "object", "list"].first { name.hasPrefix($0) }, "\(name)") }
    }
  }
}
