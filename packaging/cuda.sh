#!/bin/sh
# Brings the CUDA binaries of the embedded engine (about 540 MB) to its other ones, which no installation has by itself. It takes
# npm and a network. Binaries of another version than the engine's are not used: run it again when an upgrade brings one.
set -eu
root=${1:-$(dirname "$(readlink -f "$0")")}
modules=$root/node_modules
fail() {
  echo "cuda: $1" >&2
  exit 1
}
[ "$(uname -sm)" = 'Linux x86_64' ] || fail 'the CUDA binaries are for Linux on x64; use Vulkan.'
command -v npm >/dev/null || fail 'npm is not here; it fetches the binaries (Debian: apt install npm).'
[ -w "$modules" ] || fail "$modules may not be written; run it as the owner (sudo)."
version=$(sed -n 's/^[[:space:]]*"version": "\([^"]*\)".*/\1/p' "$modules/node-llama-cpp/package.json" | head -n 1)
[ -n "$version" ] || fail 'the version of the engine is not known; install the gateway anew.'

mkdir -p "$modules/@node-llama-cpp"
scratch=$(mktemp -d "$modules/.cuda-XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
for name in linux-x64-cuda linux-x64-cuda-ext; do
  echo "Fetching @node-llama-cpp/$name $version ..."
  mkdir "$scratch/$name"
  npm pack "@node-llama-cpp/$name@$version" --pack-destination "$scratch/$name" --loglevel=error >/dev/null ||
    fail 'npm could not fetch it; check the network and the disk, then try again.'
  tar -xzf "$scratch/$name"/*.tgz -C "$scratch/$name" --no-same-owner || fail 'it could not be unpacked; is the disk full?'
done
for name in linux-x64-cuda linux-x64-cuda-ext; do
  rm -rf "$modules/@node-llama-cpp/$name"
  mv "$scratch/$name/package" "$modules/@node-llama-cpp/$name"
done
echo 'Done. The next start uses CUDA where a device is found; /api/slots and the dashboard name the backend in use.'
