#!/usr/bin/env bash
# Builds the extended HotSpot and lays a JDK 17 with it beside the installed one: build.sh DIRECTORY [release|fastdebug]
# [OPTION...]. Options are configure's, which then runs anew.
#
# DIRECTORY/jdk-release (or jdk-fastdebug) is a JDK then, made of links to the installed one but for the VM and its launcher.
# Constraint: what is built already is not built again.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
directory=${1:?name a directory} level=${2:-release}
shift $(($# < 2 ? $# : 2))
installed=$(jdk_home 17)
has_compiler "$installed" || fail "no JDK 17 with a compiler is found: run \`make setup\`, or set JAVA_HOME_17"
"$root/vm/scripts/sources.sh" "$directory"
directory=$(cd "$directory" && pwd)
cd "$directory/source"
build=build/linux-$level
if [ ! -f "$build/spec.gmk" ] || [ $# -gt 0 ]; then
  bash configure --with-conf-name="linux-$level" --with-boot-jdk="$installed" --with-debug-level="$level" \
    --enable-headless-only --with-native-debug-symbols=none --disable-warnings-as-errors "$@" \
    >"$directory/configure.log" 2>&1 \
    || {
      tail -20 "$directory/configure.log" >&2
      fail 'configure finds something missing, see above; scripts/setup.sh vm installs what it is known to need'
    }
fi
make CONF="linux-$level" hotspot LOG=warn >"$directory/make.log" 2>&1 || { tail -60 "$directory/make.log" >&2; exit 1; }

# The launcher finds the VM beside itself, so it is no link.
jdk=$directory/jdk-$level
rm -rf "$jdk"
mkdir -p "$jdk/bin" "$jdk/lib/server"
for part in "$installed"/*; do
  case $(basename "$part") in bin | lib) ;; *) ln -s "$part" "$jdk/" ;; esac
done
for tool in "$installed"/bin/*; do cp -L "$tool" "$jdk/bin/"; done
for part in "$installed"/lib/*; do
  case $(basename "$part") in server) ;; libjli.so | jvm.cfg) cp -L "$part" "$jdk/lib/" ;; *) ln -s "$part" "$jdk/lib/" ;; esac
done
cp "$build/support/modules_libs/java.base/server/libjvm.so" "$jdk/lib/server/"
for part in "$installed"/lib/server/*; do
  case $(basename "$part") in libjvm.so | *.jsa) ;; *) cp -L "$part" "$jdk/lib/server/" ;; esac
done
"$jdk/bin/java" -Xshare:dump >"$directory/dump.log" 2>&1 || { tail -5 "$directory/dump.log" >&2; exit 1; }
"$jdk/bin/java" -XX:+LookbackSampling -version
echo "$jdk"
