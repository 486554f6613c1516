import Foundation
import Testing

@Suite("The kept inputs of the client's fuzzers") struct CorpusTests {
  private static func inputs(_ name: String) throws -> [[UInt8]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(name)")
    return try FileManager.default.contentsOfDirectory(at: folder.standardizedFileURL, includingPropertiesForKeys: nil)
      .map { [UInt8](try Data(contentsOf: $0)) }
  }

  @Test("each text is a template whose pieces follow each other, or refused at a place that it has") func templates()
    throws
  {
    let inputs = try Self.inputs("TemplateFuzz")
    let read = inputs.filter { exerciseTemplate(unsafe $0.span.bytes) }.count
    #expect(read >= 5 && inputs.count - read >= 5)
  }

  @Test("each file gives variables, or is refused at a line that it has") func variables() throws {
    let inputs = try Self.inputs("EnvironmentFileFuzz")
    let read = inputs.filter { exerciseEnvironmentFile(unsafe $0.span.bytes) }.count
    #expect(read >= 5 && inputs.count - read >= 5)
  }
}
