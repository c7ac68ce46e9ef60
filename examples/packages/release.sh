#!/bin/sh
# Writes the files of a release, and the recipes that fetch them: release.sh DIRECTORY [URL]
#   DIRECTORY/gpump.h                   the header alone
#   DIRECTORY/gpump-VERSION.tar.gz      the sources that git knows
#   DIRECTORY/SHA256SUMS                the checksums of both
#   DIRECTORY/debian                    to be put into the unpacked sources (dpkg-buildpackage)
#   DIRECTORY/meson, vcpkg, conan, xmake
# URL is where the first two will be found; without it the recipes read DIRECTORY itself. The variable DEBEMAIL is the address of
# Debian's maintainer. The version is that of gpump.h. The same commit always gives the same bytes. Exit status: 0 written, 1 a file could not be written, 2 usage.
set -eu
[ $# -ge 1 ] && [ $# -le 2 ] || { echo "usage: release.sh DIRECTORY [URL]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
git -C "$source" rev-parse HEAD >/dev/null 2>&1 || { echo "release.sh: $source is no git repository: run it in a clone" >&2; exit 2; }
[ ! -e "$1/SHA256SUMS" ] || { echo "release.sh: $1 has a release: name an empty directory" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
url=${2:-file://$out}
number() { sed -n "s/^#define GPUMP_VERSION_$1 //p" "$source/gpump_impl/base/base.h"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
seconds=$(git -C "$source" log -1 --format=%ct)
archive=gpump-$version.tar.gz

cp "$source/gpump.h" "$out/gpump.h"
(cd "$source" && git ls-files -z | tar --null --files-from=- --sort=name --mtime="@$seconds" --owner=0 --group=0 --numeric-owner \
    --mode=go-w --transform "s,^,gpump-$version/," --create) | gzip -n >"$out/$archive"
(cd "$out" && sha256sum gpump.h "$archive" >SHA256SUMS)
sha256=$(sha256sum "$out/$archive" | cut -d ' ' -f 1)
sha512=$(sha512sum "$out/$archive" | cut -d ' ' -f 1)

cd "$here"
find debian meson vcpkg conan xmake -type f | while read -r file; do
    mkdir -p "$out/$(dirname "$file")"
    sed -e "s,@VERSION@,$version,g" -e "s,@URL@,$url,g" -e "s,@SHA256@,$sha256,g" -e "s,@SHA512@,$sha512,g" \
        -e "s,@EMAIL@,${DEBEMAIL:-gpump@localhost},g" -e "s/@DATE@/$(LC_ALL=C date -u -d "@$seconds" '+%a, %d %b %Y %H:%M:%S +0000')/g" "$file" >"$out/$file"
done
chmod +x "$out/debian/rules"
echo "gpump $version in $out"
