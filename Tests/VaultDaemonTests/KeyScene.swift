import CLinux
import Foundation
import Testing
import VaultCore
import VaultTesting

/// Something done to a vault before its daemon's memory is searched, and the keys that may be found then, as
/// vault-security(7) says.
///
/// The places of each key, and the scenes that look for it anywhere else:
///
/// | key | where the code has it | after a lock | scenes |
/// |---|---|---|---|
/// | a slot's root and wrapping key | `SlotRecord.make`, `openVaultKey` | nowhere: they end with the call | all |
/// | keys that libsodium made of them | the stack, the registers | wiped by `SecureBytes.lend`, `Stack.wipe` | all |
/// | a typed secret | `Handover` in a `Conversation` | wiped when that is called off | ``proofs``, ``ways`` |
/// | the vault key | `Handover`: `Conversation.willWipe`, `SlotRenewal`, a `Job` | the same | ``proofs``, ``ways`` |
/// | the next vault key | `CarriedSlots.nextKey`; sealed in the store | the same | ``rekeys`` |
/// | a class key | `Keychain.unlock`, `openAlways`, `check` | nowhere: it ends with the call | all |
/// | values, integrity of a class | `Keychain.whenUnlocked` and so on, `LentKeys` | `Keychain.lock` wipes them | all |
/// | metadata, tags of a class | the same | kept as vault-security(7) says | ``locks``, ``sleeps`` |
/// | the key for backups | `Keychain.afterFirstUnlock` | kept until a sleep | ``copies``, ``sleeps`` |
/// | keys of a backup's stream | `StreamSealer`, `StreamOpener` | until its end or a sleep | ``copies``, ``sleeps`` |
/// | keys of the vault to come | `Rekey`, until `RekeyWork` ends | wiped with it | ``rekeys``, ``sleeps`` |
/// | the boot key | `fetchBootKey`; `Handover` while a rekey asks | nowhere, or with its conversation | ``keystores`` |
/// | a presence key | `fetchPresenceKey`, frames to helper programs | nowhere | ``keystores`` |
/// | that of a `memory` slot | `RetainedKeys` | kept until a sleep or the age | ``keystores``, ``sleeps`` |
///
/// ``HelperMemoryTests`` look for these keys in the helper programs, and `ClientMemoryTests` in the client.
struct KeyScene: Sendable, CustomTestStringConvertible {
  let name: String
  var settings = ""
  var place = KeyStage.Place()
  let held: [String]
  /// True when the password that was typed is in memory, too, for what is done next.
  var holdsPassword = false
  let play: @Sendable (KeyStage) throws -> Void
  var testDescription: String { name }

  static let all = locks + sleeps + unlocks + proofs + ways + keystores + copies + rekeys
}
