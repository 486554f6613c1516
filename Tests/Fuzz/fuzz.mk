# One fuzz target per parser: Tests/Fuzz/<Name>Fuzz.swift, its kept inputs in Tests/Fuzz/Corpus/<Name>Fuzz.
# The modules are compiled again with libFuzzer's coverage and AddressSanitizer; SwiftPM cannot do that.
#
#   make fuzz                         a minute of each
#   make fuzz-StoreFuzz               of one
#   make fuzz FUZZ_SECONDS=7200       so long
#   make fuzz FUZZ_RUNS=50000000      so many inputs, however long that takes

FUZZ_SECONDS ?= $(if $(FUZZ_RUNS),0,60)
FUZZ_RUNS    ?=
FUZZ    := .build/fuzz
# Short traces of allocations and a small quarantine: both cost more than all the rest of it.
FUZZ_ASAN := detect_leaks=0:malloc_context_size=2:quarantine_size_mb=8
FUZZERS := $(basename $(notdir $(wildcard Tests/Fuzz/*Fuzz.swift)))

FUZZ_SWIFTC := swiftc -O -g -wmo -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name vault \
  -enable-testing -strict-memory-safety -warnings-as-errors -enable-upcoming-feature InternalImportsByDefault \
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature ExistentialAny \
  -I Sources/CSodium -I Sources/CGcrypt -I Sources/CLinux -I Sources/CSQLite -I Sources/CTPM2 -I Sources/CExpat \
  -I Sources/CYAML -I $(FUZZ)

# The types of the wire, which SwiftPM's build has its plugin generate.
FUZZ_WIRE := $(patsubst %,$(FUZZ)/wire/%.swift,Faults Interfaces WireMethods WireTypes)
FUZZ_VARLINK := $(patsubst %,Sources/VaultWire/%.varlink,io.vaultd.Vault org.varlink.service)
$(FUZZ)/WireGenerator: $(wildcard Sources/WireGenerator/*.swift)
	@mkdir -p $(FUZZ)/wire
	@swiftc -parse-as-library $^ -o $@
$(FUZZ_WIRE) &: $(FUZZ)/WireGenerator $(FUZZ_VARLINK)
	@$< $(FUZZ)/wire $(FUZZ_VARLINK)

# A module's sources, and the modules that it imports.
fuzz-module = $(FUZZ)/$1.o: Tests/Fuzz/fuzz.mk $(shell find Sources/$1 -name '*.swift') $(patsubst %,$(FUZZ)/%.o,$2)
$(call fuzz-module,VaultBytes)
$(call fuzz-module,VaultModel,VaultBytes)
$(call fuzz-module,VaultCore,VaultModel VaultBytes)
$(call fuzz-module,VaultSigning,VaultCore VaultModel VaultBytes)
$(call fuzz-module,VaultSSH,VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-module,VaultWire,VaultModel VaultBytes) $(FUZZ_WIRE)
$(call fuzz-module,VaultStore,VaultCore VaultModel VaultBytes)
$(call fuzz-module,VaultProcess)
$(call fuzz-module,VaultHelper,VaultProcess VaultWire VaultModel VaultBytes)
$(call fuzz-module,VaultTPM2,VaultHelper VaultWire VaultModel VaultBytes)
# The daemon's small files are read by these alone. A target pays at every input for each module that it has.
FUZZ_SERVICE := Audit/Writing/AuditSettings Files/OwnFile Files/ReplacedFile Files/SystemError Files/TextFile \
  Keyring/KeyringSettings Keyring/Prompts/PromptLimits Vault/LockPolicy Vault/VaultSettings \
  WaysIn/Trying/Backoff WaysIn/Trying/BackoffFile WaysIn/Slots/BootKey WaysIn/Slots/KeyFile
$(FUZZ)/VaultService.o: Tests/Fuzz/fuzz.mk $(patsubst %,Sources/VaultService/%.swift,$(FUZZ_SERVICE)) \
  $(patsubst %,$(FUZZ)/%.o,VaultCore VaultModel VaultBytes)
# The parsers of the client's files and of other programs' words, without the argument parser.
FUZZ_CLI := Items/Fetching/FetchedItems Items/Fetching/ItemReference Inject/Escape Inject/ShellWord Inject/Template \
  Inject/TemplateParser Inject/YAMLScalar Helpers/Git/GitAttributes Helpers/Git/GitPlace \
  Run/EnvironmentFile Run/VariableName Run/Variables
$(FUZZ)/VaultCLI.o: Tests/Fuzz/fuzz.mk $(patsubst %,Sources/VaultCLI/%.swift,$(FUZZ_CLI)) \
  $(patsubst %,$(FUZZ)/%.o,VaultWire VaultModel VaultBytes)
# The readers of other programs' files, without the program, its sandbox and its socket.
FUZZ_READERS := $(shell find Sources/VaultImport -name '*.swift' -not -path '*/Program/*') \
  Sources/VaultImport/Program/Entry+Reply.swift
$(FUZZ)/VaultImport.o: Tests/Fuzz/fuzz.mk $(FUZZ_READERS) $(patsubst %,$(FUZZ)/%.o,VaultWire VaultModel VaultBytes)
# The parser of another keyring's replies.
$(FUZZ)/VaultKeyring.o: Tests/Fuzz/fuzz.mk Sources/VaultKeyring/PropertyTable.swift \
  $(patsubst %,$(FUZZ)/%.o,VaultWire VaultModel VaultBytes)
$(FUZZ)/Logging.o: Tests/Fuzz/Logging.swift Tests/Fuzz/fuzz.mk
$(FUZZ)/VaultDaemon.o: Tests/Fuzz/fuzz.mk Sources/VaultDaemon/Main/Settings/Configuration.swift \
  $(patsubst %,$(FUZZ)/%.o,Logging VaultService VaultCore VaultWire VaultModel VaultBytes)

# The door of the Secret Service and of the portal, with the whole of VaultService: other files of both modules than
# above.
FUZZ_BUS := $(FUZZ)/bus
FUZZ_BUS_SWIFTC := $(FUZZ_SWIFTC:swiftc=swiftc -I $(FUZZ_BUS)) -I Sources/CSystemd
FUZZ_DOOR := $(filter-out %+Standing.swift,$(wildcard Sources/VaultDaemon/Doors/SecretService/*.swift)) \
  $(patsubst %,Sources/VaultDaemon/Connections/%.swift,CallCost Plaintext) \
  Tests/Fuzz/Bus/Surroundings.swift \
  $(patsubst %,Sources/VaultDaemon/Bus/Messages/%.swift,BusError BusMessage BusMessage+Detached BusWriter) \
  $(patsubst %,Sources/VaultDaemon/Bus/Serving/%.swift,BusInterface BusIntrospection BusObjects BusPeer BusProperties \
  BusRequest LateAnswer)
$(FUZZ_BUS)/VaultService.o: Tests/Fuzz/fuzz.mk $(shell find Sources/VaultService -name '*.swift') \
  $(patsubst %,$(FUZZ)/%.o,VaultStore VaultSigning VaultCore VaultModel VaultBytes)
$(FUZZ_BUS)/VaultDaemon.o: Tests/Fuzz/fuzz.mk $(FUZZ_DOOR) $(FUZZ_BUS)/VaultService.o \
  $(patsubst %,$(FUZZ)/%.o,VaultProcess Logging)
$(FUZZ_BUS)/%.o:
	@mkdir -p $(FUZZ_BUS)
	@echo "$* of the bus: compile with coverage and AddressSanitizer"
	@$(FUZZ_BUS_SWIFTC) -module-name $* -emit-module -emit-module-path $(FUZZ_BUS)/$*.swiftmodule \
	  -c $(filter %.swift,$^) -o $@
	@touch $@

# The reading of the replies of vault-import, and the plan of what to store: other files of the module than above.
FUZZ_PLANNING := $(FUZZ)/planning
FUZZ_PLANNING_SWIFTC := $(FUZZ_SWIFTC:swiftc=swiftc -I $(FUZZ_PLANNING))
FUZZ_PLAN := $(patsubst %,Sources/VaultCLI/%.swift,Import/Reading/ReceivedEntries Import/Storing/ImportSet \
  $(addprefix Import/Planning/,Agreement EntryMapping EntryMapping+Fields EntryMapping+Versions FittingKind \
  ImportAccount ImportMapping ImportNaming ImportPlan ImportedItem PastVersions PresentItems ShortenedName \
  SourceEntry) Export/Mapping/AttributeFamily Export/Mapping/ExportForm) Tests/Fuzz/Import/Surroundings.swift
$(FUZZ_PLANNING)/VaultCLI.o: Tests/Fuzz/fuzz.mk $(FUZZ_PLAN) $(patsubst %,$(FUZZ)/%.o,VaultWire VaultModel VaultBytes)
	@mkdir -p $(FUZZ_PLANNING)
	@echo "VaultCLI of imports: compile with coverage and AddressSanitizer"
	@$(FUZZ_SWIFTC) -module-name VaultCLI -emit-module -emit-module-path $(FUZZ_PLANNING)/VaultCLI.swiftmodule \
	  -c $(filter %.swift,$^) -o $@
	@touch $@

# To call the tracer at each comparison takes the parsers of values and frames up to half of their time; their words are
# in dictionaries instead.
FUZZ_PLAIN := -sanitize-coverage=edge,indirect-calls,inline-8bit-counters,pc-table
fuzz-coverage = $(if $(filter VaultBytes VaultModel KindFuzz VaultWire FrameFuzz ImportReplyFuzz,$1),$(FUZZ_PLAIN))

$(FUZZ)/%.o:
	@mkdir -p $(FUZZ)
	@echo "$*: compile with coverage and AddressSanitizer"
	@$(FUZZ_SWIFTC) $(call fuzz-coverage,$*) -module-name $* -emit-module -emit-module-path $(FUZZ)/$*.swiftmodule \
	  -c $(filter %.swift,$^) -o $@
	@touch $@ # The compiler leaves one alone that would be the same.

# A target's parts: its modules and the libraries that they are linked with. A target pays for each module at every
# input.
fuzz-target = $(FUZZ)/$1: Tests/Fuzz/$1.swift $3 $(patsubst %,$(FUZZ)/%.o,$2)
FUZZ_STORE := $(wildcard Tests/Fuzz/Store/*.swift)
$(call fuzz-target,KindFuzz,VaultModel VaultBytes)
$(call fuzz-target,PredicateFuzz,VaultModel VaultBytes)
$(call fuzz-target,FrameFuzz,VaultWire VaultModel VaultBytes)
$(call fuzz-target,HelperFuzz,VaultCLI VaultWire VaultModel VaultBytes)
$(call fuzz-target,RecordFuzz,VaultCore VaultModel VaultBytes)
$(call fuzz-target,AgentFuzz,VaultSSH VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-target,KnownHostsFuzz,VaultSSH VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-target,KeyFuzz,VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-target,BackupFuzz,VaultCore VaultModel VaultBytes)
$(call fuzz-target,SessionFuzz,VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-target,TokenFuzz,VaultSigning VaultCore VaultModel VaultBytes)
$(call fuzz-target,SealedBlobFuzz,VaultTPM2 VaultHelper VaultProcess VaultWire VaultModel VaultBytes)
$(call fuzz-target,ConfigurationFuzz,VaultDaemon Logging VaultService VaultCore VaultWire VaultModel VaultBytes)
$(call fuzz-target,TemplateFuzz,VaultCLI VaultWire VaultModel VaultBytes)
$(call fuzz-target,EnvironmentFileFuzz,VaultCLI VaultWire VaultModel VaultBytes)
$(call fuzz-target,BackoffFuzz,VaultService VaultCore VaultModel VaultBytes)
$(call fuzz-target,BusFuzz,Logging VaultProcess VaultStore VaultSigning VaultCore VaultModel VaultBytes,\
  Tests/Fuzz/Bus/BusStage.swift Tests/Fuzz/Store/Randomness.swift $(FUZZ_BUS)/VaultDaemon.o \
  $(FUZZ_BUS)/VaultService.o)
$(FUZZ)/BusFuzz: private FUZZ_SWIFTC := $(FUZZ_BUS_SWIFTC) -lsystemd
$(call fuzz-target,ProviderFuzz,VaultKeyring VaultWire VaultModel VaultBytes)
FUZZ_SINK := Tests/Fuzz/Import/FittingEntries.swift
FUZZ_SEALED := Tests/Fuzz/Import/SealedContent.swift Tests/VaultImportTests/KDBX/SealedDatabase.swift
$(call fuzz-target,KDBXFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK) $(FUZZ_SEALED))
$(call fuzz-target,KDBXDocumentFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK) $(FUZZ_SEALED))
$(call fuzz-target,BitwardenFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,CSVFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,PassFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,OneTimeFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,CredentialFileFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,SSHKeyFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,YAMLFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK) \
  Tests/Fuzz/Import/PlacedValues.swift)
$(call fuzz-target,InflateFuzz,VaultImport VaultWire VaultModel VaultBytes)
$(call fuzz-target,ZipFuzz,VaultImport VaultWire VaultModel VaultBytes)
$(call fuzz-target,ExchangeFuzz,VaultImport VaultWire VaultModel VaultBytes,$(FUZZ_SINK))
$(call fuzz-target,ImportReplyFuzz,VaultWire VaultModel VaultBytes,\
  Tests/VaultCLITests/Import/PlannedSource.swift $(FUZZ_PLANNING)/VaultCLI.o)
$(FUZZ)/ImportReplyFuzz: private FUZZ_SWIFTC := $(FUZZ_PLANNING_SWIFTC)
FUZZ_PLAIN_SWIFTC := $(FUZZ_SWIFTC)
# The recipe's shell looks for GLib, because it knows the paths that make exports.
$(FUZZ)/ProviderFuzz $(FUZZ)/VaultKeyring.o: private FUZZ_SWIFTC = $(FUZZ_PLAIN_SWIFTC) -I Sources/CSecret \
  $$(pkg-config --cflags-only-I glib-2.0 | sed 's/-I/-Xcc -I/g')
$(call fuzz-target,StoreFuzz,VaultStore VaultCore VaultModel VaultBytes,$(FUZZ_STORE))
$(call fuzz-target,RestoreFuzz,VaultStore VaultCore VaultModel VaultBytes,$(FUZZ_STORE))

$(FUZZ)/%Fuzz:
	@$(FUZZ_SWIFTC) $(call fuzz-coverage,$*Fuzz) -use-ld=lld -module-name $*Fuzz \
	  -emit-executable -emit-module-path $(FUZZ)/$*Fuzz.swiftmodule $(filter %.swift %.o,$^) \
	  $(if $(findstring VaultCore,$^),-lsodium) $(if $(findstring VaultSigning,$^),-lgcrypt) \
	  $(if $(findstring VaultStore,$^),-lsqlite3) $(if $(findstring VaultImport.o,$^),-lexpat -lyaml -lgcrypt) \
	  $(if $(findstring VaultTPM2,$^),-ltss2-esys -ltss2-mu -ltss2-tctildr) -o $@

kept-corpus = $(wildcard Tests/Fuzz/Corpus/$1)

# The longest input, where it is not 4096 bytes; some are long from the first on, because a few bytes are no edit and no
# call.
FUZZ_LENGTH_KindFuzz  := 2048
FUZZ_LENGTH_StoreFuzz := 321
FUZZ_LENGTH_RestoreFuzz := 209
FUZZ_START_StoreFuzz := -len_control=0
FUZZ_START_RestoreFuzz := -len_control=0
FUZZ_START_BusFuzz := -len_control=0
FUZZ_LENGTH_FrameFuzz := 1024
FUZZ_LENGTH_HelperFuzz := 1024
FUZZ_LENGTH_KnownHostsFuzz := 1024
FUZZ_LENGTH_TokenFuzz := 2048
FUZZ_LENGTH_SessionFuzz := 512
FUZZ_LENGTH_BackoffFuzz := 256
FUZZ_LENGTH_BusFuzz := 512
FUZZ_LENGTH_ConfigurationFuzz := 1024
FUZZ_LENGTH_SealedBlobFuzz := 2048
FUZZ_LENGTH_KDBXDocumentFuzz := 2048
FUZZ_LENGTH_OneTimeFuzz := 1024
FUZZ_LENGTH_InflateFuzz := 1024
FUZZ_LENGTH_ZipFuzz := 1024
FUZZ_LENGTH_ImportReplyFuzz := 2048
FUZZ_LENGTH_CredentialFileFuzz := 2048
FUZZ_LENGTH_YAMLFuzz := 2048

# An input that it finds worth keeping goes to the first folder, under .build; the kept corpus is only read. A crash
# leaves its input in .build/fuzz and fails the rule. A store's files lie in memory, in a folder that goes with the
# rule. Sets have one order in all runs, so that an input does again what it did.
.PHONY: fuzz $(addprefix fuzz-,$(FUZZERS))
fuzz: deps $(addprefix fuzz-,$(FUZZERS))
$(addprefix fuzz-,$(FUZZERS)): fuzz-%: $(FUZZ)/%
	@mkdir -p $(FUZZ)/found/$*
	@echo "$*: $(if $(FUZZ_RUNS),$(FUZZ_RUNS) inputs,$(FUZZ_SECONDS) s)"
	@export FUZZ_FOLDER=$$(mktemp -d /dev/shm/vault-fuzz.XXXXXX); trap 'rm -rf "$$FUZZ_FOLDER"' EXIT; \
	SWIFT_DETERMINISTIC_HASHING=1 SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=$(FUZZ_ASAN) nice $< \
	  -max_total_time=$(FUZZ_SECONDS) -runs=$(or $(FUZZ_RUNS),-1) -timeout=10 \
	  -rss_limit_mb=1024 -malloc_limit_mb=64 $(FUZZ_START_$*) -max_len=$(or $(FUZZ_LENGTH_$*),4096) \
	  $(patsubst %,-dict=%,$(wildcard Tests/Fuzz/$*.dict)) \
	  -print_final_stats=1 -artifact_prefix=$(FUZZ)/$*- $(FUZZ)/found/$* $(call kept-corpus,$*) >$(FUZZ)/$*.log 2>&1 \
	  || { tail -n 60 $(FUZZ)/$*.log; exit 1; }
	@grep -E '^stat::(number_of_executed_units|average_exec_per_sec|new_units_added)' $(FUZZ)/$*.log
