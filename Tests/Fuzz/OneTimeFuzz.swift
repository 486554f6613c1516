import VaultBytes
import VaultModel
import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzOneTime(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseOneTime(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a list of one-time secrets, as the data of an export of Google Authenticator, and as one secret.
/// A URI that the readers take must be one that the vault takes, too, and make Steam's codes only if the text says so.
/// Returns true if they are a list or an export.
func exerciseOneTime(_ bytes: [UInt8]) -> Bool {
  exerciseSecret(bytes)
  let data = PercentEscape.escaped(base64(bytes)) { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "=") }
  let export = readFitting(MigrationReader.self, "a", Array("otpauth-migration://offline?data=\(data)\n".utf8))
  let list = readFitting(OneTimeListReader.self, "a", bytes)
  precondition(list == readFitting(MigrationReader.self, "a", bytes))
  return export != nil || list != nil
}

private func exerciseSecret(_ bytes: [UInt8]) {
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard let uri = OneTimeText.uri(parts[0], account: parts.count > 1 ? parts[1] : "") else { return }
  // Bytes have no padding.
  guard let secret = try? OneTimeSecret(unsafe Array(uri.utf8).span.bytes), secret.isURI else {
    fatalError("the vault refuses \(uri)")
  }
  let isSteam = parts[0].lowercased().contains("steam")
  precondition(isSteam || secret.alphabet == .digits, "\(uri) makes Steam's codes")
}

private func base64(_ bytes: [UInt8]) -> String {
  var writer = JSONWriter()
  // Bytes have no padding.
  writer.base64(unsafe bytes.span.bytes)
  return String(decoding: writer.withBytes { $0.array }.dropFirst().dropLast(), as: UTF8.self)
}
