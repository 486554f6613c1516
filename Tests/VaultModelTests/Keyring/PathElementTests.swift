import Testing
import VaultModel

@Suite("Elements of object paths") struct PathElementTests {
  @Test(
    "stand for texts as sd_bus_path_encode(3) writes them",
    arguments: [
      ("", "_"), ("iot/key", "iot_2fkey"), ("a_b", "a_5fb"), ("1a1", "_31a1"), ("é", "_c3_a9"), ("_", "_5f"),
    ])
  func texts(text: String, element: String) {
    #expect(PathElement.encode(text) == element)
    #expect(PathElement.decode(element) == text)
  }

  @Test("have one form for each text", arguments: ["a_62", "1a", "a_2F", "a_2", "a_", "_ff", "a/b", "a-b", "__"])
  func others(element: String) { #expect(PathElement.decode(element) == nil) }
}
