internal import VaultModel

/// The parts of one vault, put together for the doors.
///
/// All of them belong to one serial domain.
package final class Rooms {
  package let vault: Vault
  package let access: Access
  package let items: Items
  package let waysIn: WaysIn
  package let presence: Presence
  package let upkeep: Upkeep
  package let attendance: Attendance
  package let asking: Asking
  package let conversations = Conversations()
  private let deposits: DepositWork
  private let outlines: DepositOutlines

  /// The services that these parts need from their environment.
  package struct World {
    package let clock: Clock
    package let timer: Timer
    package let log: Log
    /// The thread for key derivations and small files.
    package let worker: any Worker
    /// The turns by which callers share the loop.
    package let turns: Turns
    /// The turns for long work.
    package let runner: Runner
    package let presence: Presence.Means
    package let keystores: any Keystores
    /// The program that computes with large RSA keys.
    package let rsa: any RSAProgram
    /// The directory of the service's credentials; nil if the service manager gave none.
    package let credentials: String?
    /// The groups of a user, as found by the name service.
    package let groups: (UInt32) -> [UInt32]

    package init(
      clock: Clock, timer: Timer, log: Log, worker: any Worker, turns: Turns, runner: Runner, presence: Presence.Means,
      keystores: any Keystores, rsa: any RSAProgram, credentials: String?,
      groups: @escaping (UInt32) -> [UInt32] = { _ in [] }
    ) {
      self.clock = clock
      self.timer = timer
      self.log = log
      self.worker = worker
      self.turns = turns
      self.runner = runner
      self.presence = presence
      self.keystores = keystores
      self.rsa = rsa
      self.credentials = credentials
      self.groups = groups
    }
  }

  /// Opens the store at `directory`, if there is one.
  package init(directory: String, _ terms: Access.Terms, _ settings: VaultSettings, _ world: World) {
    vault = Vault(
      directory: directory, settings: settings, clock: world.clock, log: world.log, timer: world.timer,
      groups: world.groups)
    vault.waiting.turns = world.turns
    access = Access(terms, vault)
    vault.audit.isSystem = terms.isSystem
    vault.audit.subjectName = { [unowned access] in access.auditName(of: $0) }
    vault.audit.toldName = { [unowned access] in access.auditName(of: $0) }
    vault.audit.grantsRevision = { [unowned access] in access.book.revision }
    vault.hooks.keysTaken = { [unowned access] in access.load($0) }
    vault.hooks.willChangeKeys = { [unowned access] in access.willChangeKeys() }
    vault.hooks.haveChangedKeys = { [unowned access] in access.haveChangedKeys() }
    items = Items(vault, access, world.rsa)
    deposits = DepositWork(items, world.runner)
    vault.hooks.takeIn = { [unowned deposits] in deposits.begin() }
    vault.hooks.whenTakenIn = { [unowned deposits] in deposits.whenOver($0) }
    let attempts = Attempts(vault)
    presence = Presence(vault, attempts, world.presence, world.timer)
    waysIn = WaysIn(
      vault, access, presence, attempts, conversations, worker: world.worker, timer: world.timer, runner: world.runner,
      keystores: world.keystores, credentials: world.credentials, isSystem: terms.isSystem)
    upkeep = Upkeep(vault, waysIn, world.runner)
    outlines = DepositOutlines(vault, world.runner)
    let opened = vault.hooks.opened
    vault.hooks.opened = { [unowned outlines] keychain in
      opened(keychain)
      outlines.begin()
    }
    attendance = Attendance(vault, access, items, world.timer)
    asking = Asking(vault: vault, access: access, items: items, attendance: attendance, timer: world.timer)
    vault.openStore(because: .start)
  }

  /// Applies new settings; see ``Vault/reconfigure(_:changed:for:)``.
  package func reconfigure(_ settings: VaultSettings, changed: [String] = [], for caller: Caller? = nil) {
    let earlier = waysIn.bootKey
    vault.reconfigure(settings, changed: changed, for: caller)
    if waysIn.bootKey != earlier {
      waysIn.giveUpNewVaults()
      waysIn.bootKeyHasMoved()
    } else if let keychain = vault.openKeychain {
      // A person who has put the boot key's file back may reload the settings to have the file noticed.
      waysIn.lookAtBootKey(keychain)
    }
  }

  /// Records that new settings were refused, so that the old ones stay.
  package func refuseSettings(_ refusal: Refusal, for caller: Caller? = nil) {
    vault.audit.record(.settings, refusal.outcome, caller)
  }

  /// Ends all questions to people without telling anybody, and wipes every key, when the daemon ends.
  package func wipe() {
    access.storeUses()
    presence.stop()
    conversations.end()
    vault.wipe()
  }
}
