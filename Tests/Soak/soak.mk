# 64 clients of four users at a vault of the machine's own, while all that can happen to it happens. It takes root.
#
#   make soak                    half an hour
#   make soak SOAK_MINUTES=3     so long
#   make soak SOAK_SEED=12345    what happens in the order of an earlier run, which printed its seed

SOAK_MINUTES ?= 30
SOAK := .build/soak
$(SOAK)/clock.so: Tests/Soak/clock.c
	@mkdir -p $(SOAK)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC $< -o $@

.PHONY: soak
soak: build $(SOAK)/clock.so
	@SOAK_MINUTES=$(SOAK_MINUTES) python3 -B Tests/Soak/soak.py $(abspath $(BIN)) $(abspath $(SOAK)/clock.so)
