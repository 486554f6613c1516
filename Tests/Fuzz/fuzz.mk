# One fuzz target per parser: Tests/Fuzz/<Name>Fuzz.swift, its kept inputs in Tests/Fuzz/Corpus/<Name>Fuzz or <name>.
# The modules are compiled again with libFuzzer's coverage and AddressSanitizer; SwiftPM cannot do that.

FUZZ_SECONDS ?= 60
FUZZ    := .build/fuzz
FUZZERS := $(basename $(notdir $(wildcard Tests/Fuzz/*Fuzz.swift)))

FUZZ_SWIFTC := swiftc -O -g -wmo -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name vault \
  -strict-memory-safety -warnings-as-errors -enable-upcoming-feature InternalImportsByDefault \
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature ExistentialAny \
  -I Sources/CSodium -I Sources/CLinux -I $(FUZZ)
FUZZ_MODULES := $(addprefix $(FUZZ)/,VaultModel.o VaultCore.o VaultAPI.o)

$(FUZZ)/VaultModel.o: $(shell find Sources/VaultModel -name '*.swift')
$(FUZZ)/VaultCore.o: $(shell find Sources/VaultCore -name '*.swift') $(FUZZ)/VaultModel.o
$(FUZZ)/VaultAPI.o: $(shell find Sources/VaultAPI -name '*.swift') $(FUZZ)/VaultModel.o
$(FUZZ_MODULES): $(FUZZ)/%.o:
	@mkdir -p $(FUZZ)
	@echo "$*: compile with coverage and AddressSanitizer"
	@$(FUZZ_SWIFTC) -module-name $* -emit-module -emit-module-path $(FUZZ)/$*.swiftmodule -c $(filter %.swift,$^) -o $@

$(FUZZ)/%Fuzz: Tests/Fuzz/%Fuzz.swift $(FUZZ_MODULES)
	@$(FUZZ_SWIFTC) -use-ld=lld -module-name $*Fuzz $^ -lsodium -o $@

kept-corpus = $(wildcard Tests/Fuzz/Corpus/$1 Tests/Fuzz/Corpus/$(shell tr A-Z a-z <<<'$(1:Fuzz=)'))

# What it finds worth keeping goes to the first folder, under .build; the kept corpus is only read. A crash leaves its
# input in .build/fuzz and fails the rule.
.PHONY: fuzz $(addprefix fuzz-,$(FUZZERS))
fuzz: deps $(addprefix fuzz-,$(FUZZERS))
$(addprefix fuzz-,$(FUZZERS)): fuzz-%: $(FUZZ)/%
	@mkdir -p $(FUZZ)/found/$*
	@echo "$*: $(FUZZ_SECONDS) s"
	@ASAN_OPTIONS=detect_leaks=0 $< -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=1024 -max_len=65536 \
	  -print_final_stats=1 -artifact_prefix=$(FUZZ)/$*- $(FUZZ)/found/$* $(call kept-corpus,$*) >$(FUZZ)/$*.log 2>&1 \
	  || { tail -n 60 $(FUZZ)/$*.log; exit 1; }
	@grep -E '^stat::(number_of_executed_units|average_exec_per_sec|new_units_added)' $(FUZZ)/$*.log
