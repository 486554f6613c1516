import Foundation
import Testing
import VaultTesting

/// What the fuzzers of whole stores were fed with, and found.
@Suite("The kept inputs of the store's fuzzers") struct CorpusTests {
  @Test("Each ends with an error or with what was stored", arguments: ["StoreFuzz", "RestoreFuzz"])
  func replay(fuzzer: String) throws {
    let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(fuzzer)")
    let files = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Sandbox.path(of: "store-replay"))
    // In memory, and removed here: a program that ends with a message removes nothing.
    let folder = "/dev/shm/vault-corpus-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    process.environment = ProcessInfo.processInfo.environment.merging(["FUZZ_FOLDER": folder]) { $1 }
    process.arguments = [fuzzer] + files.map(\.path).sorted()
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(
      process.terminationStatus == 0, "\(said.split(separator: "\n").last ?? ""), then: \(complaint.prefix(1000))")
    let lines = said.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.map(\.first) == files.map(\.lastPathComponent).sorted())
    // Each end is come to: else this would prove little.
    let ends = Dictionary(grouping: lines, by: \.last)
    for end in ["whole", "damaged", "refused"] { #expect(ends[end]?.isEmpty == false, "\(end)") }
    for line in lines where line[0].hasPrefix("whole") { #expect(line[1] == "whole", "\(line[0])") }
  }
}
