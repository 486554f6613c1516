internal import NIOCore
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The keystores of this machine. The worker thread reads and writes files; helper programs do everything else.
final class MachineKeystores: Keystores {
  let programs: HelperPrograms
  let worker: any Worker
  /// The directory of the store, which also holds the keys of the `file` keystore.
  let directory: String
  /// The settings that name the devices and services for the programs.
  var configuration: Configuration

  init(_ programs: HelperPrograms, _ worker: any Worker, directory: String, _ configuration: Configuration) {
    self.programs = programs
    self.worker = worker
    self.directory = directory
    self.configuration = configuration
  }

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
      worker.run { () -> Result<[UInt8], KeystoreError> in
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

  func fetch(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
    then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    switch kind {
    case .file:
      let files = files
      worker.run { () -> Result<Handover, KeystoreError> in
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

  func remove(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void
  ) {
    switch kind {
    case .file:
      let files = files
      worker.run { () -> KeystoreError? in
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

  /// The helper program of a keystore; nil when it has none.
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

  private static let unreachable = KeystoreError(.unavailable, "this keystore has no storage outside the daemon")
}
