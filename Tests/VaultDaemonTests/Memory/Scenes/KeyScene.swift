import CLinux
import Foundation
import Testing
import VaultCore
import VaultTesting

/// One use of a vault before the search of its daemon's memory, and the keys that may be found then according to
/// vault-security(7).
///
/// The places of each key, and the scenes that look for it anywhere else:
///
/// | key | where the code has it | after a lock | scenes |
/// |---|---|---|---|
/// | a slot's root and wrapping key | `SlotRecord.make`, `openVaultKey` | nowhere: they end with the call | all |
/// | keys that libsodium made of them | the stack, the registers | wiped by `SecureBytes.lend`, `Stack.wipe` | all |
/// | a typed secret | `Handover` in a `Conversation` | wiped when that is called off | ``proofs``, ``ways`` |
/// | the vault key | `Handover`: `Conversation.willWipe`, `SlotRenewal`, a `Job` | the same | ``proofs``, ``ways`` |
/// | the next vault key | `CarriedSlots.nextKey`, `RekeyWork.nextKey` | the same | ``rekeys`` |
/// | a class key | `Keychain.unlock`, `openAlways`, `check` | nowhere: it ends with the call | all |
/// | values, integrity of a class | `Keychain.whenUnlocked` and so on, `LentKeys` | `Keychain.lock` wipes them | all |
/// | metadata, tags of a class | the same | kept as vault-security(7) says | ``locks``, ``sleeps`` |
/// | the key for backups | `Keychain.afterFirstUnlock` | kept until a sleep | ``copies``, ``sleeps`` |
/// | keys of a backup's stream | `StreamSealer`, `StreamOpener` | until its end or a sleep | ``copies``, ``sleeps`` |
/// | keys of a rekey's new store | `Rekey`, until `RekeyWork` ends | wiped with it | ``rekeys``, ``fullDisks`` |
/// | the boot key | `fetchBootKey`; `Handover` while a rekey asks | nowhere, or with its conversation | ``keystores`` |
/// | a presence key | `fetchPresenceKey`, frames to helper programs | nowhere | ``keystores`` |
/// | the key of a `memory` slot | `RetainedKeys` | kept until a sleep or the age | ``keystores``, ``sleeps`` |
///
/// ``HelperMemoryTests`` search the helper programs for these keys, and `ClientMemoryTests` the client.
struct KeyScene: Sendable, CustomTestStringConvertible {
  let name: String
  var settings = ""
  var place = KeyStage.Place()
  let held: [String]
  /// True if the typed password is in memory, too, because a later step needs it.
  var holdsPassword = false
  let play: @Sendable (KeyStage) throws -> Void
  var testDescription: String { name }

  static let all =
    locks + sleeps + unlocks + proofs + ways + keystores + copies + rekeys + (Root.isAtHand ? fullDisks : [])
}
