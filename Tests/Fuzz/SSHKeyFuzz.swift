import VaultBytes
import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzSSHKey(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseSSHKey(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// The labels of PEM that stand around the bytes behind the first. The letters from `a` on choose one, and the letter
/// after the last stands for a whole file.
private let labels = ["OPENSSH PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"]

/// Reads any bytes behind the first as a private key, or as two files with a NUL between them, of which the second is
/// the public half. Of a key in DER only a public half of a known type is made, and its line is read as the same.
/// Returns true if the public half of the private key is known.
func exerciseSSHKey(_ bytes: [UInt8]) -> Bool {
  guard let letter = bytes.first else { return false }
  let index = Int(letter &- UInt8(ascii: "a")) % (labels.count + 1)
  var text = Array(bytes.dropFirst())
  var line: [UInt8] = []
  if index < labels.count {
    text = Array("-----BEGIN \(labels[index])-----\n\(text.base64)\n-----END \(labels[index])-----\n".utf8)
  } else if let place = text.firstIndex(of: 0) {
    line = Array(text[(place + 1)...])
    text = Array(text[..<place])
  }
  let blob = SSHPrivateFile(text)?.blob
  if let blob, (1..<labels.count).contains(index) {
    guard let type = blob.type, type.hasPrefix("ssh-") || type.hasPrefix("ecdsa-sha2-nistp") else {
      fatalError("a key in DER has a public half of no type")
    }
    line = Array("\(type) \(blob.bytes.base64) comment".utf8)
    guard let read = SSHPublicLine(line), read.blob == blob, read.comment == "comment", !read.isCertificate else {
      fatalError("the line of a public key is read as another")
    }
  }
  _ = SSHPublicLine(line)
  let files = [Source.File(".ssh/id", text), Source.File(".ssh/id.pub", line)]
  precondition(readFitting(SSHFolderReader.self, files) != nil)
  return blob != nil
}
