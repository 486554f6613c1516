import Testing
import VaultBytes

@Suite("PEM")
struct PEMTests {
  /// The bytes of a text's first block.
  private static func decoded(_ text: String) throws -> [UInt8]? {
    let text = Array(text.utf8)
    let span = unsafe text.span.bytes  // Bytes have no padding.
    guard let block = try PEM.block(in: span, from: 0) else { return nil }
    return try PEM.decode(block, in: span).array
  }

  @Test(
    "Line lengths, line ends, trailing blanks and text around a block do not matter",
    arguments: [
      "-----BEGIN X-----\nAQID\n-----END X-----\n", "-----BEGIN X-----\nAQ\nID\n-----END X-----",
      "-----BEGIN X-----\r\nAQID\r\n-----END X-----\r\n", "-----BEGIN X----- \n\n A QID \n\n-----END X-----\t\n",
      "subject: x\n---\n-----\n\n-----BEGIN X-----\nAQID\n-----END X-----\nafterwards\n",
      "-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n more: x\n\nAQID\n-----END X-----\n",
    ])
  func loose(text: String) throws { #expect(try Self.decoded(text) == [1, 2, 3]) }

  @Test("Text without a block has none", arguments: ["", "\n", "AQID\n", " -----BEGIN X-----\n", "----BEGIN X-----\n"])
  func none(text: String) throws { #expect(try Self.decoded(text) == nil) }

  @Test(
    "Broken armour is refused",
    arguments: [
      "-----BEGIN X-----", "-----BEGIN X-----\nAQID\n", "-----BEGIN X-----\nAQID\n-----END Y-----\n",
      "-----BEGIN X-----\nAQID\n-----END XX-----\n", "-----BEGIN X\nAQID\n-----END X-----\n",
      "-----BEGIN -----\nAQID\n-----END -----\n", "-----BEGIN X----\nAQID\n-----END X----\n",
      "-----END X-----\n", "-----BEGINX-----\nAQID\n-----END X-----\n",
      "-----BEGIN X-----\n-----BEGIN X-----\nAQID\n-----END X-----\n", "-----BEGIN X-----\nAQID\n-----END X-----x\n",
    ])
  func broken(text: String) {
    #expect(throws: PEMFault.self) { try Self.decoded(text) }
  }

  @Test(
    "A body that is not base64 is refused, also one that only looks like it",
    arguments: [
      "", "=", "A", "AQ", "AQI", "AQID=", "AQ=D", "A===", "====", "AQ==AQ==", "AR==", "AQJ=", "AQ-_", "AQID!", "AQ\0D",
      "Proc-Type: x\nAQID", "AQID\nx: y\n\nAQID",
    ])
  func notBase64(body: String) {
    #expect(throws: PEMFault.self) { try Self.decoded("-----BEGIN X-----\n\(body)\n-----END X-----\n") }
  }

  @Test("Blocks follow one another")
  func sequence() throws {
    let text = Array("-----BEGIN A-----\nAQ==\n-----END A-----\n-----BEGIN B-----\nAg==\n-----END B-----".utf8)
    let span = unsafe text.span.bytes
    let first = try #require(try PEM.block(in: span, from: 0))
    #expect(first.isLabelled("A", in: span) && !first.isLabelled("B", in: span))
    let second = try #require(try PEM.block(in: span, from: first.end))
    #expect(second.isLabelled("B", in: span) && second.end == text.count)
    #expect(try PEM.block(in: span, from: second.end) == nil)
  }
}
