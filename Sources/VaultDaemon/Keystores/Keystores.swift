internal import NIOCore
internal import VaultCore
internal import VaultKeystore
internal import VaultModel

/// The places where a presence key can be kept outside this process. (A `memory` key is the service's own.)
///
/// Nothing here blocks the event loop: files are read and written on the worker thread, everything else is done by
/// helper programs. Results arrive on the loop.
struct Keystores {
  let programs: HelperPrograms
  let workers: Workers
  /// The directory of the store, and with it the keys of the `file` keystore.
  let directory: String
  let configuration: Configuration

  /// Puts `key` into the keystore. `then` gets what finds it there again: at most 1 KiB, and no secret.
  ///
  /// The result calls it off, as that of ``fetch(_:from:vault:then:)`` does. A keystore may have the key by then, and keep
  /// one that opens nothing.
  func store(
    _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
    then: @escaping (Result<[UInt8], KeystoreError>) -> Void
  ) -> () -> Void {
    precondition(key.count == KeystoreRequest.keyCount, "a presence key has 32 bytes")
    switch kind {
    case .file:
      let locator = FileKeystore.newLocator()
      let copy = Handover(key.withBytes { SecureBytes(copying: $0) })
      let files = files
      workers.run(on: programs.loop) { () -> Result<[UInt8], KeystoreError> in
        guard let copy = copy.take() else { return .failure(Self.unreachable) }
        do throws(KeystoreError) {
          try files.store(copy, locator)
          return .success(locator)
        } catch {
          return .failure(error)
        }
      } then: {
        then($0)
      }
    case .tpm2, .keyring:
      if let program = program(kind) { return key.withBytes { program.store($0, vault: vault, then: then) } }
      then(.failure(Self.unreachable))
    case .memory: then(.failure(Self.unreachable))
    }
    return {}
  }

  /// Takes a copy of a key out of the keystore.
  ///
  /// The result calls it off: for when the vault is locked meanwhile, because a helper that is at work may hold the key.
  /// `then` may come all the same.
  @discardableResult
  func fetch(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
    then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    switch kind {
    case .file:
      let files = files
      workers.run(on: programs.loop) { () -> Result<Handover, KeystoreError> in
        do throws(KeystoreError) { return .success(Handover(try files.fetch(locator))) } catch {
          return .failure(error)
        }
      } then: { fetched in
        switch fetched {
        case .success(let handover):
          guard let key = handover.take() else { return then(.failure(Self.unreachable)) }
          then(.success(key))
        case .failure(let error): then(.failure(error))
        }
      }
    case .tpm2, .keyring:
      if let program = program(kind) { return program.fetch(locator, vault: vault, then: then) }
      then(.failure(Self.unreachable))
    case .memory: then(.failure(Self.unreachable))
    }
    return {}
  }

  /// Removes a key; `then` gets nil when it is gone, also when it was gone before.
  func remove(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void
  ) {
    switch kind {
    case .file:
      let files = files
      workers.run(on: programs.loop) { () -> KeystoreError? in
        do throws(KeystoreError) { try files.remove(locator) } catch { return error }
        return nil
      } then: {
        then($0)
      }
    case .tpm2, .keyring:
      guard let program = program(kind) else { return then(Self.unreachable) }
      program.remove(locator, vault: vault, then: then)
    case .memory: then(Self.unreachable)
    }
  }

  private var files: FileKeystore { FileKeystore(directory: directory) }

  /// The program of a keystore that has one.
  func program(_ kind: KeystoreKind) -> KeystoreHelper? {
    switch kind {
    case .tpm2:
      KeystoreHelper(
        programs: programs, name: "vault-tpm2", place: configuration.tpm2Device, limit: Timeouts.tpm2)
    case .keyring:
      KeystoreHelper(
        programs: programs, name: "vault-keyring", place: configuration.keyringBusName ?? "", limit: Timeouts.keyring)
    case .file, .memory: nil
    }
  }

  private static let unreachable = KeystoreError(.unavailable, "this keystore is not outside the daemon")
}
