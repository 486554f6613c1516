internal import CTPM2
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A TPM in use: its storage key is loaded, and secrets in commands and replies are encrypted.
///
/// It flushes the objects that it loaded, because without a resource manager a TPM has room for only three.
@safe final class Chip {
  private let device: String
  private var tcti: OpaquePointer?
  private var esys: OpaquePointer?
  private var storageKey = vault_tpm2_none
  private var session = vault_tpm2_none

  /// - Parameter device: the TPM's name for libtss2, which is a kind of connection, a colon and its settings
  ///   (Tss2_TctiLdr_Initialize(3)).
  init(device: String) throws(KeystoreError) {
    self.device = device
    unsafe tcti = nil
    unsafe esys = nil
    try checkAccess()
  }

  deinit {
    for handle in [session, storageKey] where handle != vault_tpm2_none { _ = unsafe Esys_FlushContext(esys, handle) }
    unsafe Esys_Finalize(&esys)
    unsafe Tss2_TctiLdr_Finalize(&tcti)
  }

  /// Connects, makes the storage key and begins a session that encrypts the first parameter of each command and reply.
  ///
  /// The session is salted with the storage key, so that an eavesdropper on the bus learns no secret.
  func open() throws(KeystoreError) {
    try check(unsafe Tss2_TctiLdr_Initialize(device, &tcti), .connect)
    try check(unsafe Esys_Initialize(&esys, tcti, nil), .connect)
    var (sensitive, template) = (TPM2B_SENSITIVE_CREATE(), vault_tpm2_storage_template())
    var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
    try check(
      unsafe Esys_CreatePrimary(
        esys, vault_tpm2_owner, vault_tpm2_password, vault_tpm2_none, vault_tpm2_none, &sensitive, &template, &outside,
        &registers, &storageKey, nil, nil, nil, nil), .storageKey)
    var symmetric = vault_tpm2_aes128_cfb()
    try check(
      unsafe Esys_StartAuthSession(
        esys, storageKey, vault_tpm2_none, vault_tpm2_none, vault_tpm2_none, vault_tpm2_none, nil,
        vault_tpm2_hmac_session, &symmetric, vault_tpm2_sha256, &session), .session)
    try check(unsafe Esys_TRSess_SetAttributes(esys, session, vault_tpm2_session_attributes, 0xFF), .session)
  }

  func seal(_ key: borrowing SecretBuffer) throws(KeystoreError) -> SealedKey {
    var sensitive = TPM2B_SENSITIVE_CREATE()
    defer { unsafe explicit_bzero(&sensitive, MemoryLayout<TPM2B_SENSITIVE_CREATE>.size) }
    let fits = key.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe vault_tpm2_set_data(&sensitive, $0.baseAddress, $0.count) == 0 }
    }
    guard fits else { throw KeystoreError(.refused, "the key is too long for the TPM") }
    var template = vault_tpm2_sealed_template()
    var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
    var privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?
    var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
    defer {
      unsafe Esys_Free(privatePart)
      unsafe Esys_Free(publicPart)
    }
    try check(
      unsafe Esys_Create(
        esys, storageKey, session, vault_tpm2_none, vault_tpm2_none, &sensitive, &template, &outside, &registers,
        &privatePart, &publicPart, nil, nil, nil), .seal)
    guard let privatePart = unsafe privatePart, let publicPart = unsafe publicPart else {
      throw KeystoreError(.unavailable, "the TPM gave no sealed key")
    }
    return unsafe SealedKey(publicPart: publicPart.pointee, privatePart: privatePart.pointee)
  }

  func unseal(_ sealed: SealedKey) throws(KeystoreError) -> SecretBuffer {
    var sealed = sealed
    var object = vault_tpm2_none
    try check(
      unsafe Esys_Load(
        esys, storageKey, session, vault_tpm2_none, vault_tpm2_none, &sealed.privatePart, &sealed.publicPart, &object),
      .load)
    defer { _ = unsafe Esys_FlushContext(esys, object) }
    var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
    try check(unsafe Esys_Unseal(esys, object, session, vault_tpm2_none, vault_tpm2_none, &data), .unseal)
    guard let data = unsafe data else { throw KeystoreError(.unavailable, "the TPM gave nothing") }
    defer {
      unsafe explicit_bzero(data, MemoryLayout<TPM2B_SENSITIVE_DATA>.size)
      unsafe Esys_Free(data)
    }
    guard unsafe Int(data.pointee.size) == KeystoreRequest.keyCount else {
      throw KeystoreError(.damaged, "what was sealed is not a key of \(KeystoreRequest.keyCount) bytes")
    }
    // The size was just checked.
    return unsafe SecretBuffer(
      copying: RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(start: vault_tpm2_data(data), count: KeystoreRequest.keyCount)))
  }

  private func check(_ code: TSS2_RC, _ step: ChipError.Step) throws(KeystoreError) {
    guard code != 0 else { return }
    throw ChipError(code: code, step: step, device: device).keystoreError
  }

  /// Checks that the device file can be opened, because libtss2 does not say why it cannot.
  private func checkAccess() throws(KeystoreError) {
    let prefix = "device:"
    guard device.hasPrefix(prefix) else { return }
    let path = String(device.dropFirst(prefix.count))
    guard unsafe access(path, R_OK | W_OK) != 0 else { return }
    switch errno {
    case ENOENT, ENOTDIR: throw KeystoreError(.unavailable, "there is no TPM at \(path)")
    case EACCES, EPERM:
      throw KeystoreError(
        .unavailable, "uid \(geteuid()) may not use the TPM at \(path): on Debian, the group tss may")
    case let code: throw KeystoreError(.unavailable, "the TPM at \(path) cannot be opened: error \(code)")
    }
  }
}
