import Foundation
import Testing
import VaultTesting

/// The inputs that were given to the fuzzers of whole stores, and those that the fuzzers found.
@Suite("The kept inputs of the store's fuzzers") struct CorpusTests {
  @Test("Each ends with an error or with what was stored", arguments: ["StoreFuzz", "RestoreFuzz"])
  func replay(fuzzer: String) throws {
    let corpus = Repository.root.appending(path: "Tests/Fuzz/Corpus/\(fuzzer)")
    let files = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The test removes the folder, because a program that ends with a message removes nothing.
    let folder = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try sandbox.run(
      [fuzzer] + files.map(\.path).sorted(), program: "store-replay",
      environment: ["FUZZ_FOLDER": folder, "SWIFT_DETERMINISTIC_HASHING": "1"], seconds: 600)
    var lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(outcome.status == 0, "\(lines.last ?? []), then: \(outcome.errors.prefix(1000))")
    let last = lines.popLast() ?? []
    let memory = try #require(last.first == "KiB" ? last.last.flatMap { Int($0) } : nil)
    #expect(memory < 128 << 10 || Sanitizer.isPresent)
    #expect(lines.map(\.first) == files.map(\.lastPathComponent).sorted())
    // Each kind of result must occur; otherwise this test would prove little.
    let ends = Dictionary(grouping: lines, by: \.last)
    for end in ["whole", "damaged", "refused"] { #expect(ends[end]?.isEmpty == false, "\(end)") }
    for line in lines where line[0].hasPrefix("whole") { #expect(line[1] == "whole", "\(line[0])") }
  }
}
