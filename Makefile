# tare: weighs data inside datastores and accounts for every byte.
#
#   make run       set up, build, weigh 100,000 records in real servers
#   make test      set up, build, run all quick tests
#   make           build ./tare alone (the packages must be there)
#   make install   PREFIX=/usr/local DESTDIR=
#
# Set-up (packages, a pinned mongod) is setup.sh; it says first what it installs.

# make V=1 shows whole commands.
ifeq ($(V),1)
  SAY = @:
else
  SAY = @echo ' '
  Q   = @
endif

VERSION  = 0.1.0
PREFIX   = /usr/local
CC       = gcc
BUILD    = build
# SANITIZE=1 builds everything apart with AddressSanitizer and UndefinedBehaviorSanitizer.
ifeq ($(SANITIZE),1)
  OBJECTS = $(BUILD)/sanitize
  TARE    = $(BUILD)/sanitize/tare
  CHECKS  = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPTIMISE = -O1 -g
else
  OBJECTS = $(BUILD)/objects
  TARE    = tare
  CHECKS  =
  OPTIMISE = -O2 -g
endif

PACKAGES = hiredis libmongoc-1.0 libbson-1.0 jansson msgpack libcbor libzstd liblz4 snappy zlib
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
# HdrHistogram: the system's, else the one that setup.sh builds.
HDR := $(shell pkg-config --exists hdr_histogram 2>/dev/null || echo $(BUILD)/hdr)
ifeq ($(HDR),)
  PACKAGES += hdr_histogram
else
  HDR_LIBRARY = $(HDR)/lib/libhdr_histogram.a
  HDR_CFLAGS  = -isystem $(HDR)/include
endif
# Evaluated once, and only by targets that compile.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $$(shell pkg-config --cflags-only-I $(PACKAGES) | sed 's/-I/-isystem /g'))$(PACKAGE_CFLAGS)
PACKAGE_LIBS   = $(eval PACKAGE_LIBS := $$(shell pkg-config --libs $(PACKAGES)))$(PACKAGE_LIBS)
CFLAGS   = $(OPTIMISE)
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DTARE_VERSION='"$(VERSION)"' $(WARNINGS) $(CHECKS) $(CFLAGS) \
             -Isrc -I. $(HDR_CFLAGS) $(PACKAGE_CFLAGS)
LIBS     = $(HDR_LIBRARY) $(PACKAGE_LIBS) -lm -lpthread

MAIN_ENCODINGS = redis:hash,redis:hash@index,redis:hash@listpack,redis:string+json,redis:string+msgpack,mongodb:document

SOURCES  = $(wildcard src/*.c src/*/*.c src/*/*/*.c encoders/*.c probes/*.c)
LIBRARY  = $(patsubst %.c,$(OBJECTS)/%.o,$(filter-out src/main.c,$(SOURCES)))
UNITS    = $(patsubst tests/unit/%.c,$(OBJECTS)/tests/unit/%,$(wildcard tests/unit/test_*.c))
SERVER_UNITS = $(patsubst tests/servers/%.c,$(OBJECTS)/tests/servers/%,$(wildcard tests/servers/test_*.c))

.PHONY: all run test test-servers test-ycsb servers bench samples units server-units install clean distclean setup setup-test format check-format
.DELETE_ON_ERROR:
.SECONDARY:

all: $(TARE)

$(TARE): $(OBJECTS)/src/main.o $(OBJECTS)/libtare.a
	$(SAY) link $@
	$(Q)$(CC) $(CHECKS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(OBJECTS)/libtare.a: $(LIBRARY)
	@rm -f $@
	$(SAY) ar $@
	$(Q)ar rcs $@ $^

$(OBJECTS)/%.o: %.c Makefile | $(HDR_LIBRARY)
	@mkdir -p $(@D)
	$(SAY) cc $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJECTS)/tests/unit/%: tests/unit/%.c $(OBJECTS)/libtare.a
	@mkdir -p $(@D)
	$(SAY) cc $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(OBJECTS)/libtare.a $(LIBS) -lcmocka

$(OBJECTS)/tests/servers/%: tests/servers/%.c $(OBJECTS)/libtare.a
	@mkdir -p $(@D)
	$(SAY) cc $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(OBJECTS)/libtare.a $(LIBS) -lcmocka

# A plain `make` sees to it too.
$(BUILD)/hdr/lib/libhdr_histogram.a:
	@./setup.sh hdr

-include $(patsubst %.c,$(OBJECTS)/%.d,$(SOURCES)) $(addsuffix .d,$(UNITS) $(SERVER_UNITS))

units: $(UNITS)
server-units: $(SERVER_UNITS)

setup:
	@./setup.sh packages
	@./setup.sh hdr
	@./setup.sh mongod

setup-test:
	@./setup.sh packages --test
	@./setup.sh hdr
	@./setup.sh mongod
	@./setup.sh corpora

# A sub-make, since set-up may just have installed what compiling needs.
run: setup
	@$(MAKE) --no-print-directory -s -j2 all
	@./tare run -n 100000 -d ycsb -e $(MAIN_ENCODINGS) --server redis=redis-server \
	    --server mongodb=mongod,engine=memory --server mongodb=mongod,engine=disk \
	    --export-csv $(BUILD)/main.csv --export-json $(BUILD)/main.json
	@echo
	@./tare diff '$(BUILD)/main.json#redis:hash@index' '$(BUILD)/main.json#mongodb:document/memory'

test: setup-test
	@tests/run.sh quick

servers:
	@./setup.sh packages --servers
	@./setup.sh mongod
	@./setup.sh servers

test-servers: setup-test
	@./setup.sh ycsb
	@tests/run.sh servers

# Among test-servers; alone, it needs redis-3.2.6 of `make servers`.
test-ycsb: setup-test
	@./setup.sh ycsb
	@./setup.sh servers redis-3.2.6
	@tests/run.sh ycsb

# The kept reports, made anew, a job after the other: some need servers of `make servers`, and the
# largest 7 GB of memory. A job with cells of stores that tare doesn't know ends with 2.
SAMPLE_JOBS = scalegrid servicestack citrusbyte tw00 aliostad
samples: all
	@mkdir -p samples/reports
	@for job in $(SAMPLE_JOBS); do \
	    PATH="$(CURDIR):$$PATH" tare run --job samples/jobs/$$job.json --samples published \
	        --export-csv samples/reports/$$job.csv --export-json samples/reports/$$job.json \
	        --export-markdown samples/reports/$$job.md || [ $$? = 2 ] || exit; done
	@python3 samples/readme_rows.py

bench: setup-test
	@$(MAKE) --no-print-directory -s -j2 all
	@python3 tests/bench.py ./tare 5 100000

install: all
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 tare $(DESTDIR)$(PREFIX)/bin/tare

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

check-format:
	clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(BUILD)/objects $(BUILD)/sanitize tare

distclean: clean
	rm -rf $(BUILD)
