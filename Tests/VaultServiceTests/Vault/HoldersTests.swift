import Testing

@testable import VaultService

@Suite("What several hold") struct HoldersTests {
  private let all = [(1, 10), (2, 1), (2, 2), (3, 30), (2, 3)]

  @Test("is found of the one with most, by number or by weight, in its order") func most() {
    #expect(all.ofHolderWithMost(\.0).map(\.1) == [1, 2, 3])
    let heaviest = all.ofHolderWithMost(\.0) { $0.reduce(0) { $0 + $1.1 } }
    #expect(heaviest.map(\.1) == [30])
    #expect([Int]().ofHolderWithMost { $0 }.isEmpty)
  }
}
