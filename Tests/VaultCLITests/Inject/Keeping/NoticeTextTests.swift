import Testing

@testable import VaultCLI

@Suite("What the daemon is told that a person is to see to") struct NoticeTextTests {
  @Test("short paths stand whole, and clauses behind each other") func short() {
    var notice = NoticeText()
    #expect(notice.text() == nil)
    notice.add("", "/a/out", " is held")
    notice.add("it lies in ", "/a/out.displaced")
    #expect(notice.text() == "/a/out is held; it lies in /a/out.displaced")
  }

  @Test("long paths lose their middle, and each ends in its name", arguments: [1, 2, 3, 7])
  func long(clauses: Int) throws {
    let folder = String(repeating: "/" + String(repeating: "d", count: 240), count: 16)
    var notice = NoticeText()
    for number in 0..<clauses { notice.add("it lies in ", "\(folder)/out\(number).displaced", " here") }
    let text = try #require(notice.text())
    #expect(text.unicodeScalars.count <= NoticeText.most)
    for number in 0..<clauses { #expect(text.contains("d/out\(number).displaced here")) }
    #expect(text.hasPrefix("it lies in /ddd") && text.contains("…"))
  }

  @Test("what is said of a version is short enough, whatever the path has in it") func version() throws {
    var notice = NoticeText()
    notice.add("another program has written ", String(repeating: "/\u{1B}\u{301}", count: 200) + "/out")
    let text = try #require(notice.text(most: NoticeText.mostOfVersion))
    #expect(text.unicodeScalars.count <= NoticeText.mostOfVersion && text.hasSuffix("/out"))
  }
}
