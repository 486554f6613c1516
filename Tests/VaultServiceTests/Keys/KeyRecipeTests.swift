import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("A new key") struct KeyRecipeTests {
  @Test("passes the check of each use that it suits, and of no other", arguments: KeyUse.allCases)
  func uses(use: KeyUse) throws {
    // The secrets of one-time codes are checked by their kind, not as keys.
    for recipe in KeyRecipe.allCases where use != .totp && !recipe.takesLong {
      let value = try recipe.make(for: use, ItemName("key"))
      let isAccepted = value.withBytes { value in
        do throws(ValueError) {
          _ = try KeyCheck.publicKey(use, value, [:])
          return true
        } catch { return false }
      }
      #expect(isAccepted == recipe.suits(use), "\(recipe)")
    }
  }
}
