import Testing
import VaultWire

@testable import VaultImport

@Suite("CSV files with several kinds of entries") struct CSVManagerTests {
  private func read(_ text: String, _ detail: String) throws -> [String] {
    let read = try ReadEntries(CSVReader.self, text)
    #expect(read.format?.detail == "CSV of \(detail)")
    return read.told
  }

  @Test("LastPass: folders, notes, and values whose line breaks lack quotes") func lastPass() throws {
    let text = """
      url,username,password,totp,extra,name,grouping,fav
      https://a.b,u,p,JBSWY3DP,n,T,Work\\Dev,1
      http://sn,,,,"NoteType:Server
      Hostname:h",S,,0
      http://,u,p,,,no URL,,0
      ,,,,first

      third",lines,,0
      http://group,,,,,Work,,0

      """
    #expect(
      try read(text, "LastPass") == [
        "login Work/Dev/T", "  url [url] https://a.b", "  username [username] u", "  password [password] p",
        "  totp [one-time] otpauth://totp/T?secret=JBSWY3DP", "  extra [note] n", "  fav [setting] 1", "note S",
        "  extra [note] NoteType:Server\nHostname:h", "login no URL", "  username [username] u",
        "  password [password] p", "note lines", "  extra [note] first\n\nthird\"",
      ])
    #expect(refusal(CSVReader.self, String(text.dropLast(6))) == "line 9 is cut off: it has 6 of 8 values")
  }

  @Test("Bitwarden: custom fields, several URIs, folders and collections") func bitwarden() throws {
    let rest = "type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp"
    #expect(
      try read(
        "folder,favorite,\(rest)\nA/B,1,login,T,n,\"pin: 1\n: unnamed\nx: a\nb\",0,"
          + "\"https://a/?x=1,2,https://b\",u,p,steam://JBSWY3DP\n"
          + ",,note,N,text,,1,,,,\n", "Bitwarden") == [
          "login A/B/T", "  favorite [setting] 1", "  notes [note] n", "  pin [secret] 1", "  fields [secret] unnamed",
          "  x [secret] a\nb", "  login_uri [url] https://a/?x=1,2", "  login_uri [url] https://b",
          "  login_username [username] u", "  login_password [password] p",
          "  login_totp [one-time] otpauth://totp/T?secret=JBSWY3DP&digits=5&encoder=steam", "note N",
          "  notes [note] text",
          "  reprompt [setting] 1",
        ])
    #expect(
      try read("collections,\(rest)\nTeam,login,T,,,0,a.b,u,p,\n", "Bitwarden (organization)").first == "login Team/T")
  }

  @Test("Proton Pass: vaults, aliases, cards as JSON, and types that are new") func protonPass() throws {
    let text = """
      type,name,url,email,username,password,note,totp,createTime,modifyTime,vault
      login,T,"https://a/, https://b/",e@x,john,p,,,1707735320,1707735349,Personal
      alias,A,,al@x,,,,,1707735363,1707735363,Personal
      creditCard,C,,,,,"{""number"":""42""}",,1,2,Second
      robot,R,,,,,n,,1,2,Second
      """
    #expect(
      try read(text, "Proton Pass").filter { !$0.contains("Time [") } == [
        "login Personal/T", "  url [url] https://a/", "  url [url] https://b/", "  email [text] e@x",
        "  username [username] john", "  password [password] p", "login Personal/A", "  email [username] al@x",
        "document Second/C", #"  creditCard [document] {"number":"42"}"#, "note Second/R", "  note [note] n",
        "  type [text] robot",
      ])
  }

  @Test("NordPass: cards as documents, custom fields, further URLs, and no entries for folders") func nordPass() throws
  {
    let text = """
      name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,\
      full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields
      F,,,,,,,,,,,,,,,,,,,,,folder,
      L,https://a,"[""https://b""]",u,p,,,,,,,,F,,,,,,,,,password,\
      "[{""label"":""a"",""type"":""hidden"",""value"":""v""}]"
      C,,,,,n,H,41,1,2,12/28,Z,,,,,,,,,,credit_card,what?
      """
    #expect(
      try read(text, "NordPass") == [
        "login F/L", "  url [url] https://a", "  additional_urls [url] https://b", "  username [username] u",
        "  password [password] p", "  a [secret] v", "document C",
        #"  credit_card [document] {"cardholdername":"H","cardnumber":"41","cvc":"1","pin":"2","expirydate":"12/28","#
          + #""zipcode":"Z"}"#,
        "  note [note] n", "  custom_fields [secret] what?",
      ])
  }

  @Test("another program's file is read by the names of its columns") func generic() throws {
    #expect(
      try read(
        "Name;Login;Passwort;Website;Kundennummer;PIN\n\"A; B\";me;\" x\";https://a.de;123;9\n", "another program")
        == [
          "login A; B", "  Login [username] me", "  Passwort [password]  x", "  Website [url] https://a.de",
          "  Kundennummer [text] 123", "  PIN [secret] 9",
        ])
    #expect(
      try read("Email\tPassword\tPassword 2\tcreated at\ne@x\tp\tq\t2024-05-01T12:00:00+02:00\n", "another program")
        == [
          "login ", "  Email [username] e@x", "  Password [password] p", "  Password 2 [secret] q",
          "  created at [created] 1714557600",
        ])
  }

  @Test(
    "what is no header is refused, also values that contain the word",
    arguments: [
      "", "a,b\n1,2\n", "url,username\n", "password\nx\n", "\"Google\",\"Username\",\"u@x\",\"Password\",\"p\"\n",
      "Title,Password,,\n", "{\"password\": 1, \"url\": 2}", "url,password,https://x\n",
    ])
  func noHeader(_ text: String) {
    #expect(!recognizes(CSVReader.self, text))
    #expect(refusal(CSVReader.self, text) == "the first line does not name the columns, one of them for the passwords")
  }

  @Test("rows with too many or too few values, and other encodings, are told with their line") func faults() {
    let header = "name,url,username,password\n"
    #expect(
      refusal(CSVReader.self, header + "a,b,c,d,\n\na,b,c,d,e\n") == "line 4 has 5 values, and there are 4 columns")
    #expect(refusal(CSVReader.self, header + "a,b,c\na,b,c") == "line 3 is cut off: it has 3 of 4 values")
    let utf16: [UInt8] = [0xFF, 0xFE] + header.utf8.flatMap { [$0, 0] as [UInt8] }
    #expect(throws: ImportFailure(.unsupported, "the text is UTF-16; save it as UTF-8")) {
      try ReadEntries(CSVReader.self, [Source.File("a", utf16)])
    }
  }

  @Test("large values are refused with their sizes") func large() throws {
    let long = String(repeating: "\"\"", count: (1 << 20) + 1)
    let text = "name,url,username,password,note\n\(String(repeating: "n", count: 20_000)),,u,p,\"\(long)\"\n"
    let entry = try #require(try ReadEntries(CSVReader.self, text).entries.first)
    #expect(entry.title.isEmpty && entry.fields.map(\.role) == [.text, .username, .password, .note])
    #expect(entry.fields.last?.refusal == "it has 1048577 bytes, and an item has room for 1 MiB")
    let deep = "url,username,password,extra,name,grouping,fav\n,u,p,,n,\(String(repeating: "f\\", count: 100)),0"
    #expect(try ReadEntries(CSVReader.self, deep).entries.first?.folder.count == 64)
  }

  @Test("no damaged file crashes the reader") func damaged() {
    attack(
      CSVReader.self,
      "url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,x\n\"y\",T,a\\b,0\n,u,\"p\"\"\n\",,,,,1\n")
    attack(
      CSVReader.self,
      "type,name,url,username,password,note,totp,createTime,modifyTime\nlogin,T,\"a://b,c\",ü,p,,AB,1,2\n")
  }
}
