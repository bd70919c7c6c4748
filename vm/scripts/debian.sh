# shellcheck shell=bash disable=SC2154 # who sources it has $directory and $root
# Debian's sources of OpenJDK 17, without root: sourced by what fetches them.
#
# Constraint: the lists of packages and what is fetched are kept in $directory; the machine's own are not touched.

# lists KIND SUITE...: which of Debian's suites are looked into; KIND is deb-src with its options.
lists() {
  local kind=$1 mirror=${DEBIAN_MIRROR:-http://deb.debian.org} suite
  shift
  mkdir -p "$directory/apt/lists/partial" "$directory/apt/cache" "$directory/fetched"
  for suite; do
    echo "$kind $mirror/debian $suite main"
    [ "$suite" = sid ] || echo "$kind $mirror/debian-security $suite-security main"
  done >"$directory/apt/sources.list"
}

# apt PROGRAM ARGUMENT...: one of apt's programs, with those lists.
apt() {
  local program=$1
  shift
  "$program" -q -o Dir::Etc::sourcelist="$directory/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$directory/apt/lists" -o Dir::Cache="$directory/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# versions: those that are listed, the oldest first. One may be listed that is not served any more.
versions() {
  apt apt-cache showsrc openjdk-17 | sed -n 's/^Version: //p' | sort -Vu
}

# download VERSION: all its files into $directory/fetched.
download() {
  (cd "$directory/fetched" && apt apt-get source --download-only "openjdk-17=$1" >/dev/null 2>&1)
}

# fits TREE: whether the hooks fit the source in it; says why not.
fits() {
  (cd "$1" && patch --dry-run --quiet -p1 --fuzz=0 <"$root/vm/hooks.patch")
}
