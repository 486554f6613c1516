import Foundation
import Testing
import VaultWire

@testable import VaultImport

/// `exchange.json` was made by a Python program from the Proposed Standard of 14 August 2025, with a credential of each
/// type, and one of a type that is unknown.
@Suite("Credential exchanges") struct CXFFileTests {
  private static func file() throws -> [UInt8] {
    let folder = try #require(Bundle.module.url(forResource: "Files", withExtension: nil))
    return [UInt8](try Data(contentsOf: folder.appendingPathComponent("exchange.json")))
  }

  @Test("give every item with all its credentials") func whole() throws {
    let found = try ReadEntries(CXFReader.self, [Source.File("a", try Self.file())])
    #expect(
      found.format
        == ImportedFormat(
          name: "cxf", detail: "Credential Exchange Format 1.0, written by Exporter app", source: "cxf:YWNjb3VudA"))
    let told = found.told.filter { !$0.hasPrefix("  creationAt [created]") && !$0.hasPrefix("  modifiedAt [modified]") }
    #expect(told.joined(separator: "\n") == Self.expected)
    let entry = try #require(found.entry("Login"))
    #expect(entry.id == "aXRlbTAx")
    #expect(entry.fields.first { $0.role == .created }?.value == Array("1600000001".utf8))
    #expect(entry.fields.first { $0.refusal != nil }?.size == 21)
    #expect(found.entries.allSatisfy { $0.kind != .document || $0.fields.contains { $0.mediaType == Entry.jsonType } })
  }

  @Test("are recognized by their members, wherever these stand") func recognized() throws {
    let bytes = try Self.file()
    #expect(CXFReader.recognizes(Source([Source.File("a", bytes)]) { (_) throws(ImportFailure) in nil }))
    #expect(FileFormat.guess(Source([Source.File("a", bytes)]) { (_) throws(ImportFailure) in nil }) == .cxf)
    // The header is cut off.
    #expect(recognizes(CXFReader.self, #"{"accounts":[{"items":[{"id":"","title":"","credentials":[]}"#))
    #expect(!recognizes(CXFReader.self, #"{"accounts":[{"items":[{"id":"","title":""}]}]}"#))
    #expect(!recognizes(BitwardenReader.self, String(decoding: bytes, as: UTF8.self)))
  }

  private static let expected = #"""
    login Work/Login
      collection [tag] Work/Keys
      subtitle [text] work
      favorite [setting] true
      tag [tag] a
      tag [tag] b
      url [url] https://example.org
      url [url] https://example.com
      androidApp [text] org.example
      androidApp: certificate [setting] {"fingerprint":"Zg","hashAlg":"sha256"}
      androidApp: name [setting] App
      username [username] ana
      password [password] pw-1
      totp [one-time] otpauth://totp/Site:ana?secret=JBSWY3DPEHPK3PXP&issuer=Site&algorithm=SHA256
      note [note] a note
      More: color [text] blue
      More: pin [secret] 1234
      More: until [text] 2027-08
      More: later [secret] x
      More: later: extensions [document] [{"name":"e","v":1}]
      item-reference [text] aXRlbTAy
      item-reference: account [setting] YWNj
      scan.pdf [attachment] the exchange has only its name; the content is not in the JSON
      scan.pdf: id [setting] Zg
      scan.pdf: integrityHash [setting] aGFzaA
      password [secret] gen-1
      extensions [document] [{"name":"shared","accessors":[{"type":"user","accountId":"eA","name":"Bo","permissions"\#
    :["read"]}]}]
    document Passkey
      passkey [document] {"type":"passkey","credentialId":"aWQ","rpId":"example.org","username":"ana","userDisplayNa\#
    me":"Ana","userHandle":"dQ","key":"MIGH","fido2Extensions":{"payments":true}}
    document Card
      credit-card [document] {"type":"credit-card","number":{"id":"aWQ","fieldType":"concealed-string","value":"4111\#
    111111111111"},"fullName":{"id":"aWQ","fieldType":"string","value":"Ana"},"cardType":{"id":"aWQ","fieldType":"st\#
    ring","value":"Visa"},"verificationNumber":{"id":"aWQ","fieldType":"concealed-string","value":"123"},"pin":{"id"\#
    :"aWQ","fieldType":"concealed-string","value":"0000"},"expiryDate":{"id":"aWQ","fieldType":"year-month","value":\#
    "2027-08"},"validFrom":{"id":"aWQ","fieldType":"year-month","value":"2024-02"}}
    wifi Network
      ssid [text] HomeNet
      security [text] WPA
      passphrase [password] wifi-pw-1
      hidden [text] false
    note Note
      note [note] dear diary
    document License
      drivers-license [document] {"type":"drivers-license","fullName":{"id":"aWQ","fieldType":"string","value":"Ana"\#
    },"birthDate":{"id":"aWQ","fieldType":"date","value":"1990-05-15"},"licenseNumber":{"id":"aWQ","fieldType":"stri\#
    ng","value":"D1"}}
    document Home
      address [document] {"type":"address","streetAddress":{"id":"aWQ","fieldType":"string","value":"1 Road"},"count\#
    ry":{"id":"aWQ","fieldType":"country-code","value":"US"}}
    ssh-key Work/Keys/Key
      key-type [text] ssh-ed25519
      privateKey [password] -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIOp01/ssk401oUPaCqc3657i+OEfUIyZcXbiXLfajfTZ
    -----END PRIVATE KEY-----

      comment [text] work
      creationDate [text] 2023-01-01
      expiryDate [expires] 4070995199
      keyGenerationSource [text] OpenSSH
    document ID
      identity-document [document] {"type":"identity-document","documentNumber":{"id":"aWQ","fieldType":"string","va\#
    lue":"1"},"sex":{"id":"aWQ","fieldType":"string","value":"F"}}
    document Passport
      passport [document] {"type":"passport","passportNumber":{"id":"aWQ","fieldType":"string","value":"A1"}}
      person-name [document] {"type":"person-name","given":{"id":"aWQ","fieldType":"string","value":"Ana"}}
    token Work/API
      key [password] tok-1
      username [username] svc
      keyType [text] Bearer
      url [url] https://api.example.org
      validFrom [text] 2025-01-01
      expiryDate [expires] 4070995199
    login Generated
      password [password] gen-2
    one-time Codes
      totp [one-time] otpauth://totp/Codes?secret=JBSWY3DPEHPK3PXP
    document Odd codes
      totp [document] {"type":"totp","secret":"JBSWY3DPEHPK3PXP","period":30,"digits":6,"algorithm":"md5"}
    document Later
      future-credential [document] {"type":"future-credential","a":{"b":[1,2.5]}}
    login credential exchange
      exporterRpId [setting] exporter.example.com
      exporterDisplayName [setting] Exporter app
      timestamp [setting] 1705228800
      id of ana [setting] YWNjb3VudA
      username of ana [setting] ana
      email of ana [setting] ana@example.org
      fullName of ana [setting] Ana
      subtitle of Work [setting] at work
      creationAt of Work [setting] 1700000000
      extensions of Work [document] [{"name":"shared","accessors":[]},{"name":"x"}]
      extensions [document] [{"name":"other","z":true}]
    """#
}
