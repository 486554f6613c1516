internal import Logging
internal import VaultAPI
internal import VaultStore

/// A second store with what is left of a damaged one: while it is filled, and until its backup is made.
final class Salvaging {
  /// The number of items between two looks at the clock. Each such step is a transaction.
  static let stride = 8

  let salvage: Salvage
  /// The salvage it belongs to while it is filled; nil when it is whole.
  var connection: Connection?
  var nextReport: Int64 = 0

  init(_ salvage: Salvage, for connection: Connection) {
    self.salvage = salvage
    self.connection = connection
  }
}

/// Salvage: saves what still authenticates, in slices between requests; a Backup of it follows.
extension Service {
  private static let page = 100
  private var salvageDirectory: String { paths.store + "/salvage" }

  func salvage(_: Wire.Empty, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    if let transferObstacle { return connection.fail(transferObstacle) }
    if salvaging?.connection != nil { return connection.fail(.busy(reason: "the store is being salvaged already")) }
    dropSalvage()
    do throws(SystemError) {
      if salvageTurns == nil { salvageTurns = try LoopTurns(on: loop) { [unowned self] in salvageOn() } }
    } catch {
      return connection.fail(.storageFailed(reason: "\(error)"))
    }
    do throws(VaultError) {
      salvaging = Salvaging(try Salvage(keychain, in: salvageDirectory, now: clock.wall()), for: connection)
    } catch {
      return connection.fail(fault(error, name: ""))
    }
    log.info("what still authenticates of the store is being salvaged")
    connection.hold { [weak self] in self?.dropSalvage() }
    salvageTurns?.next()
  }

  private func salvageOn() {
    guard let salvaging, let connection = salvaging.connection else { return }
    let end = clock.monotonic() + IntegrityCheck.idleSlice
    do throws(VaultError) {
      repeat {
        if try salvaging.salvage.step(items: Salvaging.stride) { return concludeSalvage(salvaging, connection) }
      } while clock.monotonic() < end
    } catch {
      log.error("the store could not be salvaged: \(error.text)")
      dropSalvage()
      return connection.fail(fault(error, name: ""))
    }
    tellProgress(salvaging, connection)
    salvageTurns?.next()
  }

  private func tellProgress(_ salvaging: Salvaging, _ connection: Connection) {
    let now = clock.monotonic()
    guard salvaging.nextReport <= now, connection.isKeepingUp else { return }
    salvaging.nextReport = now + IntegrityCheck.reportInterval
    let (done, total) = salvaging.salvage.progress
    let progress = Wire.Integrity(state: "salvaging", done: done, total: total)
    connection.reply(Wire.SalvageReply(progress: progress), continues: true)
  }

  private func concludeSalvage(_ salvaging: Salvaging, _ connection: Connection) {
    let result = salvaging.salvage.result
    salvaging.connection = nil
    log.info("\(result.saved) items were salvaged, and \(result.losses.count + result.omitted) things are lost")
    var rest = result.losses.map { Wire.Finding($0) }[...]
    while !rest.isEmpty {
      connection.reply(Wire.SalvageReply(losses: Array(rest.prefix(Self.page))), continues: true)
      rest = rest.dropFirst(Self.page)
    }
    connection.reply(Wire.SalvageReply(saved: result.saved, omitted: result.omitted))
  }

  /// The source of a backup: the vault, or what was salvaged of it.
  func backupSource(_ call: Wire.BackupParameters, _ keychain: Keychain) throws(Fault) -> Keychain {
    guard call.salvaged == true else { return keychain }
    guard let salvaging, salvaging.connection == nil else { throw .invalid("salvaged") }
    return salvaging.salvage.target
  }

  /// Removes the second store, and its keys, unless a backup is being made of it: then the keys alone.
  func dropSalvage() {
    salvaging?.salvage.target.wipe()
    guard salvaging != nil, transfer?.isOfSalvage != true else { return }
    // The connection closes with it, before its files go.
    salvaging = nil
    removeSalvage()
  }

  /// Removes a second store that nothing uses. One that cannot be removed is in nobody's way but the next salvage's, which
  /// says why.
  func removeSalvage() { try? Salvage.remove(salvageDirectory) }

  /// Ends a salvage because the keys it needs are wiped, or the slots that it has taken over are others now; removes what
  /// was saved.
  func callOffSalvage(because fault: Fault) {
    let connection = salvaging?.connection
    dropSalvage()
    connection?.fail(fault)
  }
}
