import Testing
import VaultModel

@Suite("Words put together") struct ClausesTests {
  @Test("a number of things is one, or several")
  func counted() {
    #expect([0, 1, 2].map { Counted.text($0, "item") } == ["0 items", "1 item", "2 items"])
    #expect(Counted.text(1, "entry") == "1 entry" && Counted.text(2, "entry") == "2 entries")
    #expect(Counted.text(2, "key") == "2 keys")
  }

  @Test("advice stands behind a semicolon, and behind a question it is a sentence of its own")
  func joined() {
    #expect(Clauses.joined("it is wrong", "correct it") == "it is wrong; correct it")
    #expect(Clauses.joined("did you mean `idle`?", "correct it") == "did you mean `idle`? Correct it")
    #expect(Clauses.joined("name it without * and ?", "see the page") == "name it without * and ?; see the page")
    #expect(Clauses.joined("it is wrong", nil) == "it is wrong")
    #expect(Clauses.ended("it is wrong") == "it is wrong." && Clauses.ended("is it?") == "is it?")
  }
}
