# The tests with all programs built with AddressSanitizer, and with ThreadSanitizer. Left out is what searches memory,
# where a sanitizer keeps what a program gave back (MemorySearch.isPossible).
#
#   make sanitize                           both
#   make sanitize-thread                    one
#   make sanitize SUITES=VaultStoreTests    of some suites

SANITIZED  := .build/sanitize
SANITIZERS := address thread
SUITES     ?= .
sanitized   = $(SWIFT) $(1) --sanitize $* --scratch-path $(SANITIZED)/$* -Xlinker $(CURDIR)/$(SANITIZED)/$*.o

.PHONY: sanitize $(addprefix sanitize-,$(SANITIZERS))
sanitize: $(addprefix sanitize-,$(SANITIZERS))
$(addprefix sanitize-,$(SANITIZERS)): REPORTS = $(CURDIR)/$(SANITIZED)/$*-reports
$(addprefix sanitize-,$(SANITIZERS)): sanitize-%: test-deps
	@rm -rf $(REPORTS); mkdir -p -m 755 $(SANITIZED); mkdir -m 1777 $(REPORTS)
	$(CC) -c -fsanitize=$* -D_GNU_SOURCE -DREPORTS='"$(REPORTS)"' Tests/Sanitize/options.c -o $(SANITIZED)/$*.o
	$(call sanitized,build --build-tests)
	BUNDLE=$(SANITIZED)/$*/debug/vaultPackageTests.xctest Tests/run.sh '$(SUITES)'; tests=$$?; \
	  [ -z "$$(ls $(REPORTS))" ] || { cat $(REPORTS)/*; exit 1; }; exit $$tests
