import Testing

@testable import VaultBytes

/// JSON in the spirit of nst/JSONTestSuite: y cases are accepted, n cases are refused. If that suite leaves the choice
/// to the parser (i cases), the strict choice is taken here.
@Suite struct JSONTests {
  static let accepted = [
    "array_arraysWithSpaces": "[[]   ]",
    "array_empty": "[]",
    "array_empty-string": "[\"\"]",
    "array_ending_with_newline": "[\"a\"]\n",
    "array_false": "[false]",
    "array_heterogeneous": "[null, 1, \"1\", {}]",
    "array_null": "[null]",
    "array_with_leading_space": "[ 1]",
    "array_with_several_null": "[1,null,null,null,2]",
    "number": "[123e65]",
    "number_0e+1": "[0e+1]",
    "number_0e1": "[0e1]",
    "number_after_space": "[ 4]",
    "number_double_close_to_zero":
      "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]",
    "number_int_with_exp": "[20e1]",
    "number_minus_zero": "[-0]",
    "number_negative_int": "[-123]",
    "number_real_capital_e": "[1E22]",
    "number_real_capital_e_neg_exp": "[1E-2]",
    "number_real_fraction_exponent": "[123.456e78]",
    "number_very_big_negative_int": "[-237462374673276894279832749832423479823246327846]",
    "number_huge_exp": "[0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999]",
    "object_empty_key": "{\"\":0}",
    "object_escaped_null_in_key": "{\"foo\\u0000bar\": 42}",
    "object_long_strings": "{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], \"id\": \"x\"}",
    "object_with_newlines": "{\n\"a\": \"b\"\n}",
    "string_1_2_3_bytes_UTF-8_sequences": "[\"\\u0060\\u012a\\u12AB\"]",
    "string_accepted_surrogate_pair": "[\"\\uD801\\udc37\"]",
    "string_accepted_surrogate_pairs": "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]",
    "string_allowed_escapes": "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
    "string_backslash_and_u_escaped_zero": "[\"\\\\u0000\"]",
    "string_comments": "[\"a/*b*/c/*d//e\"]",
    "string_nonCharacterInUTF-8_U+FFFF": "[\"\u{FFFF}\"]",
    "string_null_escape": "[\"\\u0000\"]",
    "string_pi": "[\"π\"]",
    "string_with_del_character": "[\"a\u{7f}a\"]",
    "string_u+2028_line_sep": "[\"\u{2028}\"]",
    "string_last_surrogates": "[\"\\uDBFF\\uDFFE\"]",
    "string_U+10FFFF": "[\"\u{10FFFF}\"]",
    "structure_true_in_array": "[true]",
    "structure_whitespace_array": " \t\r\n[] ",
  ]

  static let refused = [
    "array_1_true_without_comma": "[1 true]",
    "array_colon_instead_of_comma": "[\"\": 1]",
    "array_comma_after_close": "[\"\"],",
    "array_comma_and_number": "[,1]",
    "array_double_comma": "[1,,2]",
    "array_extra_close": "[\"x\"]]",
    "array_extra_comma": "[\"\",]",
    "array_incomplete": "[\"x\"",
    "array_inner_array_no_comma": "[3[4]]",
    "array_just_comma": "[,]",
    "array_number_and_comma": "[1,]",
    "array_unclosed_with_new_lines": "[1,\n1\n,1",
    "incomplete_false": "[fals]",
    "incomplete_null": "[nul]",
    "incomplete_true": "[tru]",
    "number_++": "[++1234]",
    "number_+1": "[+1]",
    "number_-01": "[-01]",
    "number_-1.0.": "[-1.0.]",
    "number_-NaN": "[-NaN]",
    "number_.-1": "[.-1]",
    "number_.2e-3": "[.2e-3]",
    "number_0.1.2": "[0.1.2]",
    "number_0.3e": "[0.3e]",
    "number_0.3e+": "[0.3e+]",
    "number_0.e1": "[0.e1]",
    "number_0_capital_E+": "[0E+]",
    "number_1.0e-": "[1.0e-]",
    "number_1_000": "[1 000.0]",
    "number_2.e+3": "[2.e+3]",
    "number_9.e+": "[9.e+]",
    "number_Inf": "[Inf]",
    "number_NaN": "[NaN]",
    "number_U+FF11_fullwidth_digit_one": "[１]",
    "number_expression": "[1+2]",
    "number_hex_1_digit": "[0x1]",
    "number_infinity": "[Infinity]",
    "number_minus_sign_alone": "[-]",
    "number_minus_space_1": "[- 1]",
    "number_neg_int_starting_with_zero": "[-012]",
    "number_neg_with_garbage_at_end": "[-1x]",
    "number_with_leading_zero": "[012]",
    "object_bad_value": "[\"x\", truth]",
    "object_comma_instead_of_colon": "{\"x\", null}",
    "object_double_colon": "{\"x\"::\"b\"}",
    "object_garbage_at_end": "{\"a\":\"a\" 123}",
    "object_key_with_single_quotes": "{key: 'value'}",
    "object_missing_colon": "{\"a\" b}",
    "object_missing_key": "{:\"b\"}",
    "object_missing_semicolon": "{\"a\" \"b\"}",
    "object_missing_value": "{\"a\":",
    "object_no-colon": "{\"a\"",
    "object_non_string_key": "{1:1}",
    "object_several_trailing_commas": "{\"id\":0,,,,,}",
    "object_single_quote": "{'a':0}",
    "object_trailing_comma": "{\"id\":0,}",
    "object_trailing_comment": "{\"a\":\"b\"}/**/",
    "object_two_commas_in_a_row": "{\"a\":\"b\",,\"c\":\"d\"}",
    "object_unquoted_key": "{a: \"b\"}",
    "string_1_surrogate_then_escape": "[\"\\uD800\\\"]",
    "string_1_surrogate_then_escape_u": "[\"\\uD800\\u\"]",
    "string_1_surrogate_then_escape_u1": "[\"\\uD800\\u1\"]",
    "string_1st_surrogate_but_2nd_missing": "[\"\\uDADA\"]",
    "string_1st_valid_surrogate_2nd_invalid": "[\"\\uD888\\u1234\"]",
    "string_accentuated_char_no_quotes": "[é]",
    "string_escape_x": "[\"\\x00\"]",
    "string_escaped_backslash_bad": "[\"\\\\\\\"]",
    "string_escaped_ctrl_char_tab": "[\"\\\t\"]",
    "string_escaped_emoji": "[\"\\🌀\"]",
    "string_incomplete_escape": "[\"\\\"]",
    "string_incomplete_escaped_character": "[\"\\u00A\"]",
    "string_incomplete_surrogate": "[\"\\uD834\\uDd\"]",
    "string_invalid_unicode_escape": "[\"\\uqqqq\"]",
    "string_inverted_surrogates": "[\"\\uDc00\\uD800\"]",
    "string_lone_second_surrogate": "[\"\\uDFAA\"]",
    "string_single_quote": "['single quote']",
    "string_start_escape_unclosed": "[\"\\",
    "string_unescaped_newline": "[\"new\nline\"]",
    "string_unescaped_tab": "[\"\t\"]",
    "string_unescaped_nul": "[\"\0\"]",
    "string_unicode_CapitalU": "[\"\\UA66D\"]",
    "structure_angle_bracket": "<null>",
    "structure_ascii-unicode-identifier": "aå",
    "structure_capitalized_True": "[True]",
    "structure_double_array": "[][]",
    "structure_end_array": "]",
    "structure_no_data": "",
    "structure_null-byte-outside-string": "[\0]",
    "structure_object_with_comment": "{\"a\":/*comment*/\"b\"}",
    "structure_unclosed_object": "{\"asd\":\"asd\"",
    "structure_U+00A0_as_space": "[\u{a0}]",
    "structure_UTF8_BOM": "\u{FEFF}[]",
    "structure_form_feed": "[\u{0c}]",
    "structure_single_star": "*",
  ]

  @Test("Every valid JSON value is accepted", arguments: accepted)
  func accepts(_ name: String, _ json: String) { #expect(refusal(ofValue: json) == nil, "\(name)") }

  @Test("Everything that is not JSON is refused with the place where it breaks", arguments: refused)
  func refuses(_ name: String, _ json: String) {
    guard case .invalidJSON(let offset, _) = refusal(ofValue: json) else {
      Issue.record("\(name) was accepted")
      return
    }
    #expect(offset >= 0 && offset <= json.utf8.count + 6)
  }

  static let badUTF8: [String: [UInt8]] = [
    "lone continuation": [0x80], "overlong slash, two bytes": [0xC0, 0xAF], "overlong in C1": [0xC1, 0xBF],
    "overlong slash, three bytes": [0xE0, 0x80, 0xAF], "overlong slash, four bytes": [0xF0, 0x80, 0x80, 0xAF],
    "overlong U+07FF": [0xE0, 0x9F, 0xBF], "overlong U+FFFF": [0xF0, 0x8F, 0xBF, 0xBF],
    "surrogate U+D800": [0xED, 0xA0, 0x80], "surrogate U+DFFF": [0xED, 0xBF, 0xBF],
    "above U+10FFFF": [0xF4, 0x90, 0x80, 0x80], "five bytes": [0xF8, 0x88, 0x80, 0x80, 0x80],
    "FE": [0xFE], "FF": [0xFF], "Latin-1": [0xE9], "cut after one of two": [0xC3],
    "cut after two of three": [0xE2, 0x82],
    "cut after three of four": [0xF0, 0x9F, 0x98], "second not a continuation": [0xC3, 0x28],
    "third not a continuation": [0xE2, 0x82, 0x28], "fourth not a continuation": [0xF0, 0x9F, 0x98, 0x28],
  ]

  @Test("Bytes that are not UTF-8 are refused, in values and in keys", arguments: badUTF8)
  func refusesBadUTF8(_ name: String, _ bytes: [UInt8]) {
    let value = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
    let key = Array("{\"".utf8) + bytes + Array("\":1}".utf8)
    #expect(refusal(value) == .invalidJSON(offset: 6, reason: "not UTF-8"))
    #expect(refusal(key) == .invalidJSON(offset: 2, reason: "not UTF-8"))
  }

  @Test(
    "The edges of every UTF-8 length are accepted",
    arguments: [
      "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
    ])
  func acceptsEdges(_ text: String) throws {
    let object = try object("{\"a\":\"\(text)\"}")
    let node = try present(object.member("a", of: object.root))
    let read = object.string(node)
    #expect(read == text)
  }

  @Test("A message is an object and nothing else", arguments: ["[]", "1", "\"a\"", "true", "null", " [{}] "])
  func refusesOtherRoots(_ json: String) { #expect(refusal(Array(json.utf8)) == .notAnObject) }

  @Test("Sixteen levels are accepted, seventeen are not, nor a hundred thousand")
  func limitsDepth() {
    func nested(_ levels: Int, _ open: String, _ close: String) -> [UInt8] {
      // The message itself is the first level.
      Array(
        ("{\"a\":" + String(repeating: open, count: levels - 1) + "1"
          + String(repeating: close, count: levels - 1) + "}").utf8)
    }
    for (open, close) in [("[", "]"), ("{\"b\":", "}")] {
      #expect(refusal(nested(16, open, close)) == nil)
      #expect(refusal(nested(17, open, close)) == .tooDeep)
      #expect(refusal(nested(100_000, open, close)) == .tooDeep)
    }
  }

  @Test(
    "A key that comes twice is refused, however it is written",
    arguments: [
      "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":1,\"\\u0061\":2}", "{\"\\u0061\":1,\"a\":2}",
      "{\"\":1,\"\":2}", "{\"x\":{\"a\":1,\"a\":2}}", "{\"x\":[{\"a\":1,\"a\":null}]}", "{\"é\":1,\"\\u00E9\":2}",
      "{\"\\ud83d\\ude39\":1,\"😹\":2}", "{\"\\/\":1,\"/\":2}",
    ])
  func refusesDuplicateKeys(_ json: String) { #expect(refusal(Array(json.utf8)) == .duplicateKey) }

  @Test(
    "Keys that only resemble each other are accepted",
    arguments: [
      "{\"a\":1,\"A\":1}", "{\"a\":1,\"ab\":1}", "{\"a\":1,\"b\":{\"a\":1}}", "{\"e\u{301}\":1,\"é\":2}",
      "{\"\\u0061\":1,\"\\u0062\":1}", "{\"a\":1,\"a\\u0000\":2}",
    ])
  func acceptsDistinctKeys(_ json: String) { #expect(refusal(Array(json.utf8)) == nil) }

  @Test("A duplicate is found in an object of any size", arguments: [2, 11, 12, 13, 14, 255])
  func findsDuplicatesAmongMany(_ count: Int) {
    let keys = (0..<count).map { "\"k\($0)\":\($0)" }
    let distinct = "{" + keys.joined(separator: ",") + "}"
    #expect(refusal(Array(distinct.utf8)) == nil)
    for twin in [0, count / 2, count - 1] {
      let doubled = "{" + (keys + ["\"\\u006b\(twin)\":0"]).joined(separator: ",") + "}"
      #expect(refusal(Array(doubled.utf8)) == .duplicateKey)
    }
  }

  @Test(
    "Keys are equal by what they mean, with escapes or without, in objects of any size", arguments: [1, 11, 12, 30])
  func comparesEscapedKeys(_ others: Int) {
    let rest = (0..<others).map { ",\"o\($0)\":0" }.joined()
    for (one, other, isSame) in [
      ("a", #"\u0061"#, true), (#"\u0061"#, #"\u0061"#, true), (#"\n"#, #"\u000A"#, true), ("b", #"\u0061"#, false),
      (#"\u0061b"#, #"\u0061c"#, false), ("aa", "ab", false), ("", #"\u0000"#, false), ("é", #"\u00e9"#, true),
    ] {
      let refused = refusal(Array("{\"\(one)\":1,\"\(other)\":2\(rest)}".utf8))
      #expect(refused == (isSame ? .duplicateKey : nil), "\(one), \(other)")
    }
  }

  @Test("An object may have 256 members, and not one more")
  func limitsMembers() {
    func object(_ count: Int) -> [UInt8] {
      Array(("{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}").utf8)
    }
    #expect(refusal(object(JSONObject.maximumMembers)) == nil)
    #expect(refusal(object(JSONObject.maximumMembers + 1)) == .tooManyMembers(limit: JSONObject.maximumMembers))
    // The frame is refused at the first member too many, not at its end: the bytes behind that are not examined.
    let limit = JSONObject.maximumMembers
    #expect(refusal(object(limit + 1) + [0xFF]) == .tooManyMembers(limit: limit))
  }

  @Test("A frame may hold 32768 keys and values, and not one more")
  func limitsValues() {
    // The count includes the message, its key, the array and its elements.
    func ones(_ count: Int) -> [UInt8] {
      Array("{\"a\":[1".utf8) + Array(repeatElement(Array(",1".utf8), count: count - 4).joined()) + Array("]}".utf8)
    }
    #expect(refusal(ones(JSONObject.maximumValues)) == nil)
    #expect(refusal(ones(JSONObject.maximumValues + 1)) == .tooManyValues(limit: JSONObject.maximumValues))
  }

  @Test("Looking at eight bytes at once finds the end of a plain run where looking at each one does")
  func findsEndOfRuns() {
    var generator = SystemRandomNumberGenerator()
    for count in 0..<40 {
      for byte in UInt8.min...UInt8.max {
        var text = [UInt8](repeating: UInt8(ascii: "x"), count: count)
        // Plain bytes similar to those that end a run, and one or two bytes of any kind among them.
        for index in text.indices {
          text[index] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E].randomElement(using: &generator)!
        }
        if count > 0 { text[Int.random(in: 0..<count)] = byte }
        if count > 1 { text[Int.random(in: 1..<count)] = .random(in: 0...255) }
        for start in 0...min(count, 9) {
          let plain = text[start...].firstIndex {
            $0 < 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
          }
          let found = text.span.endOfPlainRun(from: start)
          if found != plain ?? count { Issue.record("\(text) from \(start): \(found)") }
        }
      }
    }
  }
}
