import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzCredentialFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseCredentialFile(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// The formats of one text file each, with a name of such a file. The letters from `a` on choose one.
private let forms: [(format: FileFormat, name: String)] = [
  (.netrc, ".netrc"), (.pgpass, ".pgpass"), (.npmrc, ".npmrc"), (.pypirc, ".pypirc"),
  (.gitCredentials, ".git-credentials"), (.docker, ".dockercfg"), (.docker, ".docker/config.json"),
  (.aws, ".aws/credentials"), (.env, "app/.env"), (.envDocker, "a"), (.envSystemd, "a"),
  (.networkManager, "home.nmconnection"), (.wpaSupplicant, "wpa_supplicant.conf"),
]

/// Reads any bytes behind the first as a file of the format that the first byte chooses, alone and among the files of a
/// home folder, where no damaged file may keep the others out. Returns true if the file alone is read.
func exerciseCredentialFile(_ bytes: [UInt8]) -> Bool {
  guard let letter = bytes.first else { return false }
  let (format, name) = forms[Int(letter &- UInt8(ascii: "a")) % forms.count]
  let file = Source.File(name, Array(bytes.dropFirst()))
  _ = FileFormat.guess(Source([file]) { (_) throws(ImportFailure) in nil })
  if let form = format.reader as? any CredentialFile.Type, form.isNamed(file) {
    let files = [file, Source.File(".pgpass", Array("h:1:d:u:p".utf8)), Source.File("readme", [0x61])]
    guard let count = readFitting(DotfilesReader.self, files), count > 1 else {
      fatalError("a file of \(format.rawValue) keeps the others out")
    }
  }
  return readFitting(format.reader, [file]) != nil
}
