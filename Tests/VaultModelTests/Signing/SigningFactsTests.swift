import Testing
import VaultModel

@Suite("The facts of keys") struct SigningFactsTests {
  @Test("of types, curves and schemes agree with each other") func agreement() {
    for curve in Curve.allCases {
      #expect(curve.type.facts.family == .curve(curve) && curve.type.facts.sizes == curve.facts.bits...curve.facts.bits)
      #expect(curve.type.facts.sshName == "ecdsa-sha2-\(curve.facts.sshName)")
      for scheme in curve.type.schemes {
        #expect(scheme.facts.signatureCounts == 2 * curve.count...2 * curve.count)
      }
    }
    for type in KeyType.allCases {
      let facts = type.facts
      #expect(KeyType(sshName: facts.sshName) == type && facts.usualScheme.keyType == type)
      #expect(facts.tokenScheme.map { $0.keyType == type } ?? true)
      #expect(facts.sizes.contains(facts.newSizes.lowerBound) && facts.sizes.contains(facts.newSizes.upperBound))
      #expect(facts.sizes.contains(facts.mostBitsAtOnce))
    }
    for scheme in SignatureScheme.allCases {
      #expect(SignatureScheme(joseName: scheme.facts.joseName) == scheme)
      #expect(scheme.facts.sshName.map { SignatureScheme(sshName: $0) == scheme } ?? true)
    }
    #expect(SignatureScheme(sshName: "ssh-rsa") == nil)
  }

  @Test("say which scheme an agent's flags ask for, of RSA SHA-256 before SHA-512, and never SHA-1") func flags() {
    let schemes = [0, 2, 4, 6].map { KeyType.rsa.scheme(agentFlags: $0) }
    #expect(schemes == [nil, .rsaPKCS1SHA256, .rsaPKCS1SHA512, .rsaPKCS1SHA256])
    for type in KeyType.allCases where type != .rsa {
      for flags in [0, 2, 4, 6] as [UInt32] { #expect(type.scheme(agentFlags: flags) == type.facts.usualScheme) }
    }
  }

  @Test("say which new keys suit a use, and how the daemon's interface calls them") func recipes() {
    let pairs: [KeyRecipe] = [.ed25519, .p256, .rsa3072, .rsa4096]
    let suitable: [(KeyUse, [KeyRecipe])] = [
      (.ssh, pairs), (.jwt, pairs + [.hmac]), (.mac, [.hmac]), (.sign, pairs), (.totp, []),
    ]
    #expect(suitable.map(\.0) == KeyUse.allCases)
    for (use, recipes) in suitable { #expect(KeyRecipe.allCases.filter { $0.suits(use) } == recipes) }
    for recipe in KeyRecipe.allCases {
      let facts = recipe.facts
      #expect(KeyRecipe(style: facts.style, length: facts.length) == recipe)
      #expect(facts.type.map { $0.facts.newSizes.contains(facts.bits) } ?? true)
      #expect(KeyRecipe(style: facts.style, length: 5) == nil)
    }
    #expect(KeyRecipe(style: "rsa", length: nil) == .rsa3072 && KeyRecipe(style: "password", length: nil) == nil)
    #expect(KeyRecipe.allCases.filter(\.takesLong) == [.rsa3072, .rsa4096])
  }

  @Test("of uses and of kinds agree on the kind that has one use") func uses() {
    for use in KeyUse.allCases { #expect(use.kind.map { $0.use == use } ?? true) }
    for kind in ItemKind.allCases { #expect(kind.use.map { $0.kind == kind } ?? true) }
    #expect(ItemKind.allCases.map(\.facts.number) == Array(1...11))
  }
}
