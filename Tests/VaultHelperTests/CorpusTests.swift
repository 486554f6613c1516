import Foundation
import Testing

@Suite("The kept inputs of the fuzzer of sealed keys") struct CorpusTests {
  @Test("Each is refused, or a key sealed in that one way") func replay() throws {
    // Without this, libtss2 would print a line or two about each error.
    unsafe setenv("TSS2_LOG", "all+NONE", 1)
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/SealedBlobFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 12)
    for file in files {
      let isSealed = exerciseSealedBlob([UInt8](try Data(contentsOf: file)))
      // An input that a fuzzing run added has a hash as its name, and may be valid or not.
      let name = file.lastPathComponent
      if name.count < 40 { #expect(isSealed == ["sealed", "rsa", "ecc", "policy"].contains(name), "\(name)") }
    }
  }
}
