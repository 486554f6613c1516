import Foundation
import Testing
import VaultWire

@testable import VaultImport

@Suite("CSV files of programs") struct CSVDialectTests {
  private func read(_ text: String, _ detail: String) throws -> [String] {
    #expect(recognizes(CSVReader.self, text))
    let read = try ReadEntries(CSVReader.self, text)
    #expect(read.format?.name == "csv" && read.format?.detail == "CSV of \(detail)")
    return read.told
  }

  @Test("KeePassXC: a file that keepassxc-cli 2.7.4 wrote") func keePassXC() throws {
    let url = try #require(Bundle.module.url(forResource: "keepassxc", withExtension: "csv", subdirectory: "Files"))
    #expect(
      try read(String(contentsOf: url, encoding: .utf8), "KeePassXC") == [
        "login In the root", "  Password [password] plain", "  Icon [setting] 0",
        "  Last Modified [modified] 1709208001",
        "  Created [created] 1577836800", "login Web, \"work\"/Git; Hub", "  Username [username] älice",
        "  Password [password]   p\"a\",s\ns", "  URL [url] https://github.com/a,b",
        "  Notes [note] one\n\n\"two\", three",
        "  TOTP [one-time] otpauth://totp/Git%3B%20Hub:%C3%A4lice?secret=JBSWY3DPEHPK3PXP&period=30&digits=6"
          + "&issuer=Git%3B%20Hub",
        "  Icon [setting] 12", "  Last Modified [modified] 1709337599", "  Created [created] 1703984523",
      ])
  }

  @Test("Chrome, Edge and Brave, with and without notes") func chrome() throws {
    let detail = "Chrome, Edge or Brave"
    #expect(
      try read("name,url,username,password,note\nx.org,https://x.org/,me,\"p,\"\"w \",a note\n", detail) == [
        "login x.org", "  url [url] https://x.org/", "  username [username] me", "  password [password] p,\"w ",
        "  note [note] a note",
      ])
    #expect(try read("name,url,username,password\r\n,android://h@app/,,p\r\n", detail).count == 3)
  }

  @Test("Firefox: the identification, and times in milliseconds") func firefox() throws {
    let text =
      #""url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","#
      + "\"timePasswordChanged\"\r\n\"https://a.b\",\"u\",\"p\",,\"https://c.d\",\"{5ec0}\",\"1589617814635\","
      + "\"1589710449871\",\"1589617846802\"\r\n\"https://a.b\",\"\",\"q\",\"realm\",\"\",\"{5ec1}\",\"x\",\"\",\"\""
    #expect(
      try read(text, "Firefox") == [
        "login ", "  url [url] https://a.b", "  username [username] u", "  password [password] p",
        "  formActionOrigin [setting] https://c.d", "  timeCreated [created] 1589617814",
        "  timeLastUsed [setting] 1589710449871", "  timePasswordChanged [modified] 1589617846", "login ",
        "  url [url] https://a.b", "  password [password] q", "  httpRealm [text] realm", "  timeCreated [text] x",
      ])
    #expect(try ReadEntries(CSVReader.self, text).entries.map(\.id) == ["{5ec0}", "{5ec1}"])
  }

  @Test("Apple Passwords and 1Password") func apple() throws {
    let uri = "otpauth://totp/A?secret=JBSWY3DP"
    #expect(
      try read("Title,URL,Username,Password,Notes,OTPAuth\nA,https://a,u,p,n,\(uri)\n", "Apple Passwords") == [
        "login A", "  URL [url] https://a", "  Username [username] u", "  Password [password] p", "  Notes [note] n",
        "  OTPAuth [one-time] \(uri)",
      ])
    #expect(
      try read(
        "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nA,https://a,u,p,,true,false,Work; Home,n\n",
        "1Password") == [
          "login A", "  Url [url] https://a", "  Username [username] u", "  Password [password] p",
          "  Favorite [setting] true", "  Tags [tag] Work", "  Tags [tag] Home", "  Notes [note] n",
        ])
  }

  @Test("KeePass escapes by backslashes; Dashlane has several users and files") func others() throws {
    #expect(
      try read(
        #""Account","Login Name","Password","Web Site","Comments""# + "\n" + #""A \"b\"","u","p\\w","","x,y""#,
        "KeePass") == [
          "login A \"b\"", "  Login Name [username] u", "  Password [password] p\\w", "  Comments [note] x,y",
        ])
    #expect(
      try read(
        "username,username2,username3,title,password,note,url,category,otpSecret\n,b,c,T,p,,,Cat,JBSWY3DP",
        "Dashlane") == [
          "login Cat/T", "  username2 [username] b", "  username3 [text] c", "  password [password] p",
          "  otpSecret [one-time] otpauth://totp/T?secret=JBSWY3DP",
        ])
    #expect(
      try read(
        "type,account_name,account_holder,cc_number,code,expiration_month,expiration_year,routing_number,"
          + "account_number,country,issuing_bank,note,name\npayment_card,j,,11,100,03,2023,,,US,,\"a\nb\",my cc",
        "Dashlane (payments)") == [
          "document my cc",
          #"  document [document] {"type":"payment_card","account_name":"j","cc_number":"11","code":"100","#
            + #""expiration_month":"03","expiration_year":"2023","country":"US"}"#,
          "  note [note] a\nb",
        ])
  }
}
