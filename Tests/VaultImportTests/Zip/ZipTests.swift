import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("Zip archives") struct ZipTests {
  /// The files of an archive as `name: content`.
  private func read(_ bytes: [UInt8]) throws(ImportFailure) -> [String] {
    var archive = try ZipArchive(bytes)
    var found: [String] = []
    for member in archive.members {
      found.append("\(member.name): \(String(decoding: try archive.content(of: member), as: UTF8.self))")
    }
    return found
  }

  private func refusal(_ zip: BuiltZip) -> String? {
    do throws(ImportFailure) {
      _ = try read(zip.bytes)
      return nil
    } catch { return error.reason }
  }

  private static let plain = BuiltZip([BuiltZip.File("a", "one"), deflated("b/c", "hello", "cb48cdc9c90700")])

  private static func deflated(_ name: String, _ content: String, _ hex: String) -> BuiltZip.File {
    var file = BuiltZip.File(name, content)
    file.deflated = [UInt8](hex: hex) ?? []
    return file
  }

  @Test("give their files, also as zip64, with a comment, folders or sizes behind the files") func read() throws {
    var zip = Self.plain
    #expect(try read(zip.bytes) == ["a: one", "b/c: hello"])
    zip.comment = "PK\u{5}\u{6} is no end"
    #expect(try read(zip.bytes) == ["a: one", "b/c: hello"])
    zip.isZip64 = true
    zip.files.append(BuiltZip.File("folder/", ""))
    zip.files[1].flags = 8
    #expect(try read(zip.bytes) == ["a: one", "b/c: hello"])
    #expect(try read(BuiltZip([]).bytes) == [])
  }

  @Test("are refused when they are cut off anywhere") func cut() {
    for isZip64 in [false, true] {
      var zip = Self.plain
      zip.isZip64 = isZip64
      let bytes = zip.bytes
      for count in bytes.indices { #expect(throws: ImportFailure.self) { try read(Array(bytes[..<count])) } }
    }
  }

  @Test("are refused for a flipped bit, or give the same") func flipped() throws {
    for isZip64 in [false, true] {
      var zip = Self.plain
      zip.isZip64 = isZip64
      let (bytes, whole) = (zip.bytes, try read(zip.bytes))
      for bit in 0..<bytes.count * 8 {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        let found = try? read(flipped)
        #expect(found == nil || found == whole, "bit \(bit)")
      }
    }
  }

  @Test("are refused if a name leads out, is missing, or occurs twice") func names() {
    for name in ["../a", "a/../b", "..", "/a", "\\a", "a\\..\\b", "C:a", "a\0b", ""] {
      #expect(refusal(BuiltZip([BuiltZip.File(name, "x")])) != nil, "\(name)")
    }
    #expect(refusal(BuiltZip([BuiltZip.File("a..b/...", "x")])) == nil)
    #expect(
      refusal(BuiltZip([BuiltZip.File("a", "x"), BuiltZip.File("a", "y")]))
        == "the zip archive is damaged: two files have the same name")
  }

  @Test("are refused if files overlap, as those of a small archive that becomes large do") func overlap() {
    var zip = BuiltZip([BuiltZip.File("a", "xx"), BuiltZip.File("a", "xx")])
    zip.files[1].header = 0
    #expect(refusal(zip) == "the zip archive is damaged: two files have the same name")
    // The second file begins within the first one: its header is the first one's content.
    let inner = BuiltZip([BuiltZip.File("b", "x")]).bytes.prefix(32)
    zip = BuiltZip([BuiltZip.File("a", ""), BuiltZip.File("b", "x")])
    zip.files[0].content = Array(inner)
    zip.files[1].header = 31
    #expect(refusal(zip) == "the zip archive is damaged: files overlap")
  }

  @Test("are refused if they are encrypted, in parts, or compressed in another way") func unsupported() {
    var zip = Self.plain
    zip.files[0].flags = 1
    #expect(refusal(zip) == "the zip archive has an encrypted file")
    zip = Self.plain
    zip.files[0].method = 12
    #expect(refusal(zip) == "the zip archive has a file that is compressed in an unknown way (12)")
    zip = Self.plain
    zip.disk = 1
    #expect(refusal(zip) == "the zip archive is in several parts")
  }

  @Test("are refused before anything expands if it would become too large") func bombs() {
    var zip = Self.plain
    zip.files[1].size = 2 << 30
    #expect(refusal(zip) == "the compressed data expand to more than 1024 MiB")
    zip.files[1].size = 17 << 20
    #expect(refusal(zip) == "the compressed data expand to more than 256 times their size")
    // Each file may become so large, but not all of them.
    zip = BuiltZip(
      (0..<65).map { number in
        var file = Self.deflated("\(number)", "hello", "cb48cdc9c90700")
        file.size = 16 << 20
        return file
      })
    #expect(refusal(zip) == "the files of the zip archive expand to more than 1024 MiB")
  }

  @Test("are refused if a file has another size or checksum than they say") func wrong() {
    var zip = Self.plain
    zip.files[1].size = 4
    #expect(refusal(zip) == "the zip archive is damaged: the size of a file is wrong")
    zip.files[1].size = 6
    #expect(refusal(zip) == "the zip archive is damaged: the size of a file is wrong")
    zip = Self.plain
    zip.files[1].content = Array("jello".utf8)
    #expect(refusal(zip) == "the zip archive is damaged: the checksum of a file does not match")
    zip = Self.plain
    zip.files[0].size = 2
    #expect(refusal(zip) == "the zip archive is damaged: the size of a file is wrong")
  }

  @Test("unpack the same file again and again only up to a limit") func again() throws {
    var archive = try ZipArchive(Self.plain.bytes, limit: ExpansionLimit(bytes: 12))
    let member = archive.members[1]
    for _ in 0..<2 { #expect(try archive.content(of: member).count == 5) }
    #expect(throws: ImportFailure.self) { try archive.content(of: member) }
  }
}
