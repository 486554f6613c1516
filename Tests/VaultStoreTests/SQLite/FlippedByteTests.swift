import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

/// Bits flipped in the files, in one byte at a time: no answer is wrong, and a damaged store is never taken for an
/// empty one.
///
/// `store-flipper` does the work, because its release build takes a tenth of the time and can try every byte.
@Suite struct FlippedByteTests {
  private static let values = ["a": "value of a", "b": "value of b"]

  /// Returns the files of a store of two items, with a log that holds everything, or with the log folded in.
  private static func files(withLog: Bool) throws -> [String: Data] {
    let fixture = try Fixture(key: [UInt8](repeating: 5, count: 32))
    do {
      let keychain = try fixture.unlocked()
      for (text, value) in values.sorted(by: { $0.key < $1.key }) { try keychain.put(text, value) }
      if withLog { return try fixture.files().filter { $0.key != "vault.lock" } }
    }
    return try fixture.files().filter { $0.key != "vault.lock" }
  }

  /// Returns the lines that the flipper prints about the bytes of `file` at `offsets`.
  private func flip(
    _ file: String, of files: [String: Data], at offsets: [Int], values: [String: String]
  ) throws -> [String] {
    let (whole, copy) = (try FileCopy(files), try FileCopy([:]))
    // Damage in the log's last transaction looks like a power cut.
    let lost = file == "vault.db-wal" ? "b" : ""
    let names = [file] + files.keys.filter { $0 != file }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Sandbox.path(of: "store-flipper"))
    process.arguments =
      [whole.directory, copy.directory, names.joined(separator: ","), lost] + values.map { "\($0.key)=\($0.value)" }
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let lines = Data(offsets.map { "\($0)\n" }.joined().utf8)
    Thread.detachNewThread {
      try? input.fileHandleForWriting.write(contentsOf: lines)
      try? input.fileHandleForWriting.close()
    }
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("a flipped byte never gives a wrong value, a crash or an empty store", arguments: ["vault.db", "vault.db-wal"])
  func flipped(file: String) throws {
    let files = try Self.files(withLog: file == "vault.db-wal")
    let offsets = Self.offsets(try #require(files[file]))
    let said = try flip(file, of: files, at: offsets, values: Self.values)
    #expect(said == ["\(offsets.count) bytes were flipped"])
  }

  @Test("the flipper notices another value, and one that is gone") func control() throws {
    let files = try Self.files(withLog: false)
    // Byte 96 belongs to SQLite's version number in the header, which nobody reads.
    let size = try #require(files["vault.db"]?.count)
    let said = try flip("vault.db", of: files, at: [96], values: ["a": "another value of a"])
    let gone = try flip("vault.db", of: files, at: [96], values: ["c": "value of c"])
    #expect(size > 96)
    #expect(said == ["byte 96: another value", "1 bytes were flipped"])
    #expect(gone == ["byte 96: [\"c\"] is gone, and all is well", "1 bytes were flipped"])
  }

  /// Returns the places of the bytes to flip: all, except that only one byte in 64 is taken of long runs of zeros,
  /// which are free space. For a debug build of the flipper, one in eleven of these is enough behind the first hundred.
  private static func offsets(_ data: Data) -> [Int] {
    let bytes = [UInt8](data)
    var last = -64
    let used = bytes.indices.filter { index in
      if bytes[index] != 0 { last = index }
      return index - last < 8 || index % 64 == 0
    }
    return Sandbox.areProgramsReleased ? used : used.filter { $0 % 11 == 0 || $0 < 100 }
  }
}
