import Foundation
import Testing

@Suite("The kept fuzz inputs of helpers") struct HelperCorpusTests {
  @Test("Every name has one spelling, and what git says is understood or refused at a line that it has") func all()
    throws
  {
    let folder = URL(fileURLWithPath: HelperManual.path).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Tests/Fuzz/Corpus/HelperFuzz")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 9)
    var understood = 0
    for file in files where exerciseHelper([UInt8](try Data(contentsOf: file))) { understood += 1 }
    #expect(understood >= 4 && understood < files.count)
  }
}
