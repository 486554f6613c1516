internal import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

// The status of the vault.
extension Upkeep {
  /// The status of the vault. Reading the status does not count as a request, so it moves no deadline.
  package func status() -> VaultStatus {
    var status = VaultStatus(state: vault.state, locksAt: vault.locksAt, problem: vault.problem)
    status.warnings = memoryWarning
    guard let keychain = vault.openKeychain else { return status }
    ways.lookAtBootKey(keychain)
    status.vaultID = keychain.vaultID
    status.items = try? keychain.itemCount()
    // The check's result says nothing about the files that the next start would find.
    switch keychain.lostFile {
    case .storage(let reason)?:
      status.problem = Clauses.joined(reason, StoreProblem.effect(of: reason))
      status.integrity = keychain.integrity
    case let lost?: status.problem = lost.text
    case nil: status.integrity = keychain.integrity
    }
    // The problem of lost files says already what the fault is.
    if status.problem == nil, let fault = keychain.firstFault {
      status.warnings.append(
        VaultWarning(.integrity, "something is wrong with the store: \(fault)", "`vault verify` lists everything"))
    }
    status.rekey = rekeyProgress
    status.lastBackup = lastBackup
    status.warnings += warnings(keychain)
    return status
  }

  private func warnings(_ keychain: Keychain) -> [VaultWarning] {
    var warnings: [VaultWarning] = []
    if let problem = check.problem {
      warnings.append(
        VaultWarning(
          .integrity, "the store could not be checked: \(problem.text)", "`vault verify` starts the check again"))
    }
    if keychain.isCopy { warnings.append(Self.copied) }
    if let problem = rekey?.problem {
      warnings.append(
        VaultWarning(
          .rekey, "the rekey pauses: \(problem.text)",
          "it tries again by itself, at least every five minutes; `vault rekey` tries at once"))
    }
    if let givenUp = givenUpRekey { warnings.append(givenUp.warning(keychain)) }
    if let problem = vault.store.bootKeyProblem {
      warnings.append(
        VaultWarning(
          .bootKey, problem,
          vault.store.isBootKeyUnread
            ? "until it can be read, `always` items are served only after an unlock"
            : "without it `always` items are served only after an unlock; put the right one back"
              + (ways.bootKey.path == nil ? " and unlock the vault once or restart vaultd" : "")
              + ", or `vault rekey` makes a new one"))
    }
    if let problem = vault.audit.problem {
      let effect =
        if !vault.audit.isRequired {
          "entries may be missing in it"
        } else if keychain.hasFailed {
          "only calls that check or save the store are answered"
        } else {
          "no call is answered until it can be written"
        }
      warnings.append(VaultWarning(.audit, "the audit log cannot be written: \(problem)", effect))
    }
    if let counted = vault.audit.counted {
      let calls = "\(Counted.text(counted.count, "call")) \(counted.count == 1 ? "was" : "were")"
      warnings.append(
        VaultWarning(
          .audit, "\(calls) only counted in the audit log", "`vault audit` shows the counts",
          since: counted.since))
    }
    let kept = keychain.keptDepositCount
    if kept > 0 {
      warnings.append(
        VaultWarning(
          .deposits, kept == 1 ? "a deposit was kept aside" : "\(kept) deposits were kept aside",
          "`vault deposits` lists them, with the reasons and what to do"))
    }
    if keychain.newestTime > vault.clock.wall() {
      warnings.append(
        VaultWarning(
          .clock, "the clock is behind the newest time in the store",
          "the later time decides what has expired; set the clock, or if it is right, run `vault clock repair`"))
    }
    return warnings
  }

  /// The warning that the store lacks the latest changes.
  static let copied = VaultWarning(
    .copy, "vault.db was copied without vault.db-wal while vaultd had it open, or vault.db-wal was lost",
    "items and passwords may be older than those that were stored last")

  /// The warning that secrets may reach the swap; empty if they cannot. It is determined for each status, because the
  /// limit on locked memory is reached only as keys are taken into memory, not at the start of the daemon.
  private var memoryWarning: [VaultWarning] {
    let made = SecureBytes.made
    let advice = "raise RLIMIT_MEMLOCK, or they may be written to swap"
    if made.unlocked > 0 {
      let what = "\(made.unlocked) of \(made.total) buffers for secrets could not be locked in memory"
      return [VaultWarning(.memory, what, advice)]
    }
    guard SigningMemory.isLocked == false else { return [] }
    return [VaultWarning(.memory, "the keys with which libgcrypt signs could not be locked in memory", advice)]
  }
}
