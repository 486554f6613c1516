internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultWire

/// A keystore behind a helper program: `vault-tpm2` or `vault-keyring`.
struct KeystoreHelper {
  let programs: HelperPrograms
  let name: String
  /// The keystore's device or bus name, from the settings.
  let place: String
  let limit: TimeAmount

  func store(
    _ key: RawSpan, vault: [UInt8], then: @escaping (Result<[UInt8], KeystoreError>) -> Void
  ) -> () -> Void {
    let request = KeystoreRequest(.store, vault: vault.hex, place: place)
    return ask(request, key: key) { reply in
      switch consume reply {
      case .stored(let locator): then(.success(locator))
      case .failed(let error): then(.failure(error))
      default: then(.failure(self.nonsense))
      }
    }
  }

  func fetch(
    _ locator: [UInt8], vault: [UInt8], then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    let request = KeystoreRequest(.fetch, vault: vault.hex, place: place, locator: locator)
    return ask(request, key: nil) { reply in
      switch consume reply {
      case .fetched(let key):
        let copy = key.withBytes { SecureBytes(copying: $0) }
        // The helper's answer is wiped before `then` runs, so also before a client hears of the result.
        _ = consume key
        then(.success(copy))
      case .failed(let error): then(.failure(error))
      default: then(.failure(self.nonsense))
      }
    }
  }

  func remove(_ locator: [UInt8], vault: [UInt8], then: @escaping (KeystoreError?) -> Void) {
    let request = KeystoreRequest(.remove, vault: vault.hex, place: place, locator: locator)
    ask(request, key: nil) { reply in
      switch consume reply {
      case .removed: then(nil)
      case .failed(let error): then(error)
      default: then(self.nonsense)
      }
    }
  }

  @discardableResult
  private func ask(
    _ request: KeystoreRequest, key: RawSpan?, then: @escaping (consuming KeystoreReply) -> Void
  ) -> () -> Void {
    guard request.locator.count <= KeystoreRequest.locatorLimit else {
      then(.failed(KeystoreError(.damaged, "the slot does not say where its key is")))
      return {}
    }
    return programs.ask(name, request.frame(key: key), within: limit) { answer in
      then(reply(in: answer, to: request.operation))
    }
  }

  /// Returns the content of a helper's answer, and destroys the answer.
  private func reply(
    in answer: consuming Result<Frame, HelperFailure>, to operation: KeystoreRequest.Operation
  ) -> KeystoreReply {
    switch consume answer {
    case .success(let frame): KeystoreReply(frame, to: operation) ?? .failed(nonsense)
    case .failure(let failure): .failed(KeystoreError(.unavailable, "\(failure)"))
    }
  }

  private var nonsense: KeystoreError { KeystoreError(.unavailable, "\(name) does not follow its protocol") }
}
