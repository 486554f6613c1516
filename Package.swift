// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// Makes the linker place functions together, in the order of a list of their names.
func ordered(by list: String) -> [String] {
  [
    "-use-ld=lld", "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Sources/\(list)", "-Xlinker",
    "--no-warn-symbol-ordering",
  ]
}

/// The flags that make the client one static file, in which the functions that run at each start lie together. Each
/// page of the file that a start touches costs a page fault, and those took a third of the start's time. The flags
/// apply to release builds only, because the sanitizers cannot instrument a statically linked debug program; so no test
/// target may depend on `vault`.
let staticExecutable: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-executable", "-lFoundationEssentials", "-l_FoundationCollections", "-l_FoundationCShims",
      "-lswift_StringProcessing", "-lswift_RegexParser", "-lswiftSynchronization",
      // The map tells what the file consists of: it is stripped.
      "-Xlinker", "-Map=\(Context.packageDirectory)/.build/vault.map",
    ] + ordered(by: "vault/start.order"),
    .when(platforms: [.linux], configuration: .release))
]

/// The flags that place the daemon's functions of everyday use together, so that the others, four of five,
/// stay out of memory.
let keptTogether: [LinkerSetting] = [
  .unsafeFlags(ordered(by: "vaultd/use.order"), .when(platforms: [.linux], configuration: .release))
]

/// The flags that bind symbols at the start. Otherwise the dynamic linker's search at a first call would save all
/// vector registers to the stack, and memcpy leaves in these what it copied. The addresses to adjust at the start are
/// packed: spelled out, those of the daemon took 1.2 MB of its memory.
let boundAtStart: [LinkerSetting] = [
  .unsafeFlags([
    "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
  ])
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
  name: "vault",
  products: [
    .executable(name: "vault", targets: ["vault"]),
    .executable(name: "vaultd", targets: ["vaultd"]),
    .executable(name: "vault-pam", targets: ["vault-pam"]),
    .executable(name: "vault-tpm2", targets: ["vault-tpm2"]),
    .executable(name: "vault-keyring", targets: ["vault-keyring"]),
    .executable(name: "vault-qr", targets: ["vault-qr"]),
    .executable(name: "vault-rsa", targets: ["vault-rsa"]),
    .executable(name: "vault-import", targets: ["vault-import"]),
    .executable(name: "vault-agent", targets: ["vault-agent"]),
    .library(name: "VaultClient", targets: ["VaultClient"]),
    // The internals that the nested benchmark and fuzz builds use.
    .library(name: "VaultInternals", targets: ["VaultStore", "VaultCore", "VaultWire", "VaultModel", "VaultBytes"]),
  ],
  dependencies: [
    // The version is exact because NIO's wiping allocator hook is SPI.
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .systemLibrary(name: "CSodium"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CSystemd"),
    .systemLibrary(name: "CGcrypt"),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CPAM"),
    .systemLibrary(name: "CTPM2"),
    .systemLibrary(name: "CQREncode"),
    .systemLibrary(name: "CExpat"),
    .systemLibrary(name: "CYAML"),
    // The flags of glib-2.0 are used, because those of libsecret contain -pthread, about which the package manager
    // complains at every build.
    .systemLibrary(name: "CSecret", pkgConfig: "glib-2.0"),

    // A free(3) and a realloc(3) that wipe, for the programs that hold secrets while they wait.
    .target(name: "CWipingHeap"),
    // A recvmsg(2) that keeps the files which other programs pass apart.
    .target(name: "CGivenFiles"),
    // The filter of calls and the limits of the program that reads other programs' files.
    .target(name: "CSandbox"),
    // The code that runs in every program before the Swift runtime starts.
    .target(name: "CStart"),

    // A leaf under everything. The client links it, so it reaches no libsodium, and the start of a program pays for no
    // Foundation.
    .target(name: "VaultBytes", swiftSettings: strict),
    .target(name: "VaultModel", dependencies: ["VaultBytes"], swiftSettings: strict),
    .target(name: "VaultCore", dependencies: ["VaultModel", "VaultBytes", "CSodium"], swiftSettings: strict),
    // The functions that libsodium lacks, for other programs' protocols. No other target reaches libgcrypt but that of
    // other programs' files.
    .target(
      name: "VaultSigning", dependencies: ["VaultCore", "VaultModel", "VaultBytes", "CGcrypt"], swiftSettings: strict),
    // The wire of the ssh-agent, and known_hosts; only the door for SSH programs speaks it.
    .target(
      name: "VaultSSH", dependencies: ["VaultSigning", "VaultCore", "VaultModel", "VaultBytes"], swiftSettings: strict),
    .target(
      name: "VaultStore", dependencies: ["VaultCore", "VaultModel", "VaultBytes", "CSQLite", "CLinux"],
      swiftSettings: strict),
    // The types of the interfaces, generated from their definitions.
    .target(
      name: "VaultWire", dependencies: ["VaultModel", "VaultBytes"],
      exclude: ["io.vaultd.Vault.varlink", "org.varlink.service.varlink"], swiftSettings: strict,
      plugins: ["WirePlugin"]),
    .executableTarget(name: "WireGenerator", swiftSettings: strict),
    .plugin(
      name: "WirePlugin", capability: .buildTool(), dependencies: ["WireGenerator"], path: "Sources/WirePlugin"),
    .target(
      name: "VaultClient", dependencies: ["VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CLinux"],
      swiftSettings: strict),
    // The beginning and the end of a program, and the starting of other programs.
    .target(name: "VaultProcess", dependencies: ["CLinux"], swiftSettings: strict),
    // The only target into which PAM's modules load; it holds no key.
    .target(
      name: "VaultPAM", dependencies: ["VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CPAM", "CLinux"],
      swiftSettings: strict),
    // The common part of the programs that keep keys for the daemon.
    .target(
      name: "VaultHelper", dependencies: ["VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "VaultTPM2", dependencies: ["VaultHelper", "VaultWire", "VaultModel", "VaultBytes", "CTPM2"],
      swiftSettings: strict),
    .target(
      name: "VaultKeyring", dependencies: ["VaultHelper", "VaultWire", "VaultModel", "VaultBytes", "CSecret"],
      swiftSettings: strict + [.unsafeFlags(["-Xcc", "-I/usr/include/libsecret-1"])]),
    // The computations with large RSA keys, which would keep the daemon from answering.
    .target(
      name: "VaultRSA",
      dependencies: ["VaultHelper", "VaultSigning", "VaultCore", "VaultWire", "VaultModel", "VaultBytes"],
      swiftSettings: strict),
    .target(
      name: "VaultQR", dependencies: ["VaultProcess", "VaultWire", "VaultBytes", "CQREncode", "CLinux"],
      swiftSettings: strict),
    // The readers of other programs' files, which run in a sandbox. `vault` trusts nothing that they say.
    .target(
      name: "VaultImport",
      dependencies: [
        "VaultHelper", "VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CGcrypt", "CExpat", "CYAML",
        "CSandbox", "CLinux",
      ],
      swiftSettings: strict),
    // The program that asks a person questions: the daemon itself starts no program of the user and
    // talks to no desktop.
    .target(
      name: "VaultAgent",
      dependencies: ["VaultClient", "VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CSystemd", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "VaultService",
      dependencies: ["VaultStore", "VaultSigning", "VaultCore", "VaultModel", "VaultBytes", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "VaultDaemon",
      dependencies: [
        "VaultService", "VaultSSH", "VaultSigning", "VaultCore", "VaultProcess", "VaultWire", "VaultModel",
        "VaultBytes",
        "CSystemd", "CLinux", "CGivenFiles",
        .product(name: "Logging", package: "swift-log"),
      ] + nio,
      swiftSettings: strict),
    .target(
      name: "VaultCLI",
      dependencies: ["VaultClient", "VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CLinux", argumentParser],
      swiftSettings: strict),

    .executableTarget(
      name: "vaultd", dependencies: ["VaultDaemon", "VaultProcess", "CWipingHeap", "CStart"],
      exclude: ["install.mk", "system", "use.order", "user", "vault.rules", "vault.sysusers", "vaultd.conf"],
      swiftSettings: strict, linkerSettings: boundAtStart + keptTogether),
    .executableTarget(
      name: "vault-pam", dependencies: ["VaultPAM", "VaultProcess", "CWipingHeap", "CStart"],
      exclude: ["pam.d", "system", "user"], swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-tpm2", dependencies: ["VaultTPM2", "VaultHelper", "VaultProcess", "CWipingHeap", "CStart"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-keyring", dependencies: ["VaultKeyring", "VaultHelper", "VaultProcess", "CWipingHeap", "CStart"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-qr", dependencies: ["VaultQR", "VaultProcess", "CWipingHeap", "CStart"], swiftSettings: strict,
      linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-rsa", dependencies: ["VaultRSA", "VaultHelper", "VaultProcess", "CWipingHeap", "CStart"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-import", dependencies: ["VaultImport", "VaultProcess", "CWipingHeap", "CStart"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault-agent", dependencies: ["VaultAgent", "VaultProcess", "CWipingHeap", "CStart"], exclude: ["user"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "vault", dependencies: ["VaultCLI", "CStart"], exclude: ["start.order"], swiftSettings: strict,
      linkerSettings: staticExecutable),
    // `swift build` takes one product or one target, so this one stands for all the programs that are installed.
    .target(
      name: "programs",
      dependencies: [
        "vault", "vaultd", "vault-pam", "vault-tpm2", "vault-keyring", "vault-qr", "vault-rsa", "vault-import",
        "vault-agent",
      ],
      swiftSettings: strict),

    // Optimized in debug builds too, because it scans all memory of a process many times.
    .target(name: "CMemorySearch", path: "Tests/CMemorySearch", cSettings: [.unsafeFlags(["-O2"])]),
    // A program that writes to a store until a test kills it.
    .executableTarget(
      name: "store-writer", dependencies: ["VaultStore", "VaultCore", "VaultModel"],
      path: "Tests/StoreWriter",
      swiftSettings: strict),
    // A program that examines a store in which a test makes it flip bits.
    .executableTarget(
      name: "store-flipper", dependencies: ["VaultStore", "VaultCore", "VaultModel", "CLinux"],
      path: "Tests/StoreFlipper",
      swiftSettings: strict),
    // A program that connects to sockets for a test, as another process or another user.
    .executableTarget(name: "other-process", path: "Tests/OtherProcess"),
    .target(name: "COtherProcess", path: "Tests/COtherProcess"),
    // A program that examines the traces that calls with a key leave on the stack. It is a program so that there is an
    // optimized build of it.
    .executableTarget(
      name: "stack-proof", dependencies: ["VaultSigning", "VaultCore", "VaultModel", "VaultBytes", "CSodium"],
      path: "Tests/StackProof",
      swiftSettings: strict),
    // A program that tries calls in the sandbox in place of a parser. It is a program because the kernel ends it.
    .executableTarget(name: "sandbox-proof", dependencies: ["CSandbox"], path: "Tests/SandboxProof"),
    // A program that repeats the inputs of the fuzzers of whole stores, in its own process, so that its
    // random numbers repeat too.
    .executableTarget(
      name: "store-replay", dependencies: ["VaultStore", "VaultCore", "VaultModel", "CLinux", "CSodium"],
      path: "Tests/Fuzz/Store", swiftSettings: strict),
    // A disk under SQLite that records operations and fails, and the operations on file names.
    .target(name: "CFaultyDisk", dependencies: ["CSQLite"], path: "Tests/CFaultyDisk"),
    // The part that the tests share: a sandbox with its own home, daemon and terminals.
    .target(
      name: "VaultTesting",
      dependencies: [
        "VaultProcess", "CLinux", "CSQLite", "CMemorySearch", "CFaultyDisk", "COtherProcess", "other-process",
      ],
      path: "Tests/Support", swiftSettings: strict),
    .testTarget(name: "VaultBytesTests", dependencies: ["VaultBytes", "VaultTesting"], swiftSettings: strict),
    .testTarget(
      name: "VaultModelTests", dependencies: ["VaultModel", "VaultBytes", "VaultTesting"], swiftSettings: strict),
    .testTarget(
      name: "VaultCoreTests",
      dependencies: [
        "VaultCore", "VaultModel", "VaultBytes", "CSodium", "CMemorySearch", "stack-proof", "VaultTesting",
      ],
      resources: [.copy("Vectors")], swiftSettings: strict),
    .testTarget(
      name: "VaultSigningTests",
      dependencies: ["VaultSigning", "VaultCore", "VaultModel", "VaultBytes", "stack-proof", "VaultTesting"],
      resources: [.copy("Vectors")], swiftSettings: strict),
    .testTarget(
      name: "VaultSSHTests",
      dependencies: ["VaultSSH", "VaultSigning", "VaultCore", "VaultModel", "VaultBytes", "VaultTesting"],
      resources: [.copy("Vectors")], swiftSettings: strict),
    .testTarget(
      name: "VaultStoreTests",
      dependencies: [
        "VaultStore", "VaultCore", "VaultModel", "VaultBytes", "CLinux", "CSQLite", "CFaultyDisk", "store-writer",
        "store-flipper", "store-replay", "VaultTesting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VaultWireTests", dependencies: ["VaultWire", "VaultModel", "VaultBytes", "VaultTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "VaultClientTests",
      dependencies: ["VaultClient", "VaultProcess", "VaultWire", "VaultModel", "VaultBytes", "CLinux", "VaultTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "VaultPAMTests", dependencies: ["VaultPAM", "VaultWire", "VaultModel", "CPAM"],
      swiftSettings: strict),
    .testTarget(
      name: "VaultHelperTests",
      dependencies: ["VaultHelper", "VaultTPM2", "VaultWire", "VaultModel", "VaultBytes", "VaultTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "VaultImportTests",
      dependencies: [
        "VaultImport", "VaultWire", "VaultModel", "VaultBytes", "vault-import", "sandbox-proof", "VaultTesting",
      ],
      resources: [.copy("Files")], swiftSettings: strict),
    .testTarget(
      name: "VaultServiceTests",
      dependencies: [
        "VaultService", "VaultStore", "VaultCore", "VaultModel", "VaultBytes", "CLinux", "CSQLite", "CFaultyDisk",
        "VaultTesting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VaultDaemonTests",
      dependencies: [
        "VaultDaemon", "VaultService", "VaultSSH", "VaultSigning", "VaultStore", "VaultCore", "VaultClient",
        "VaultWire",
        "VaultModel", "VaultBytes", "CLinux",
        "CSodium", "vaultd", "vault-pam", "vault-tpm2", "vault-keyring", "vault-rsa", "VaultTesting",
        .product(name: "Logging", package: "swift-log"),
        // An event loop whose clock a test moves.
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio,
      exclude: ["Helpers/helper.sh", "Peers/peers.py"],
      swiftSettings: strict),
    .testTarget(
      name: "VaultAgentTests",
      dependencies: [
        "VaultAgent", "VaultClient", "VaultWire", "VaultModel", "VaultBytes", "CLinux", "VaultTesting", "vaultd",
        "vault-agent",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VaultCLITests",
      dependencies: [
        "VaultCLI", "VaultClient", "VaultWire", "VaultModel", "VaultBytes", "CLinux", "CSodium", "VaultTesting",
        "vaultd",
        "vault-pam", "vault-tpm2", "vault-keyring", "vault-qr", "vault-rsa", "vault-import", "vault-agent",
      ],
      swiftSettings: strict),
  ]
)
