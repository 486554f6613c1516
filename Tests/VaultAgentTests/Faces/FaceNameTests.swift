import Testing

@testable import VaultAgent

@Suite struct FaceNameTests {
  @Test func `the faces are named by the words of the settings`() {
    #expect(FaceName.allCases.map(\.rawValue) == ["terminal", "pinentry", "notification", "command"])
  }
}
