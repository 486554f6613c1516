import Testing

@testable import VaultModel

@Suite("A new password") struct WeaknessTests {
  private func weakness(_ password: String) -> Weakness? { unsafe Weakness(of: Array(password.utf8).span.bytes) }

  @Test("is counted in characters, whatever bytes they take") func length() {
    #expect(weakness("") == .short(0))
    #expect(weakness("k7#mQz!") == .short(7))
    #expect(weakness("äöüßéè€") == .short(7))
    #expect(weakness("äöüßéè€ñ") == nil)
    #expect(weakness("k7#mQz!x") == nil)
  }

  @Test(
    "that everybody has is refused, also with letters changed or a few signs behind it",
    arguments: [
      "12345678", "password", "PassWord", "p@ssw0rd", "Password1!", "qwertyuiop", "iloveyou", "sunshine2024",
      "dragon12!",
      "letmein!", "trustno1",
      // Each substitution by itself, and beside a digit that belongs to the word.
      "bas3ball", "$unshine", "5unshine", "1loveyou", "!loveyou", "foo7ball", "b4seball", "b@seball", "f0otball",
      "7rustno1",
      "Tru$tn01",
    ])
  func common(password: String) { #expect(weakness(password) == .common) }

  @Test(
    "that only repeats or counts is refused",
    arguments: [
      "aaaaaaaa", "xyxyxyxyx", "passwordpassword", "dragondragon", "a1b2a1b2a1", "ghijklmnop", "9876543210", "!!!!!!!!",
      "89:;<=>?@",
    ])
  func pattern(password: String) {
    let found = weakness(password)
    #expect(found == .pattern || found == .common && password == "9876543210", "\(String(describing: found))")
  }

  @Test(
    "of several words, or of its own making, is taken",
    arguments: [
      "correct horse battery", "dragon-teapot", "Tr0ub4dor&3", "dragon12345", "aaaabaaaa", "dragon-teapotdragon-teapot",
      "abcdefghj",
    ])
  func good(password: String) { #expect(weakness(password) == nil) }

  @Test("no entry of the list is a password's beginning alone") func whole() {
    #expect(weakness("passwordsareold") == nil)
    #expect(weakness("mypassword-is") == nil)
  }
}
