import Testing
import VaultCore

@testable import VaultService

@Suite("The cost of a new slot") struct SlotCostTests {
  private typealias Parameters = Argon2id.Parameters

  private let measured = Parameters(memory: 73 << 20, passes: 3)

  @Test("is what was measured, if the slot replaces none") func new() {
    #expect(NewSlot.Cost.calibrated().choices { measured } == [measured])
    #expect(NewSlot.Cost.calibrated().replacing(nil).choices { measured } == [measured])
  }

  @Test("is at least that of the slot that it replaces; without memory for that, it is what was measured")
  func replacing() {
    for (old, wanted) in [
      (Parameters(memory: 256 << 20, passes: 3), Parameters(memory: 256 << 20, passes: 3)),
      (Parameters(memory: 512 << 20, passes: 6), Parameters(memory: 512 << 20, passes: 6)),
      (Parameters(memory: 256 << 20, passes: 2), Parameters(memory: 256 << 20, passes: 3)),
      (Parameters(memory: 19 << 20, passes: 20), Parameters(memory: 73 << 20, passes: 20)),
    ] {
      let cost = NewSlot.Cost.calibrated().replacing(old)
      #expect(cost.choices { measured } == [wanted, measured])
      #expect(cost.expected == Parameters.default.raised(to: old))
    }
    #expect(NewSlot.Cost.calibrated().replacing(.floor).choices { measured } == [measured])
    #expect(NewSlot.Cost.calibrated().replacing(measured).choices { measured } == [measured])
  }

  @Test("is what a person asked for, even if the replaced slot has a higher one") func fixed() throws {
    let cost = try WantedCost(memory: 19 << 20, passes: 2).cost().replacing(.ceiling)
    var isMeasured = false
    let choices = cost.choices {
      isMeasured = true
      return measured
    }
    #expect(choices == [.floor] && !isMeasured && cost.expected == .floor)
  }
}
