import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bashCompletion } from '../../daemon/cli/completion/bash.ts';
import { fishCompletion } from '../../daemon/cli/completion/fish.ts';
import { zshCompletion } from '../../daemon/cli/completion/zsh.ts';
import { createProgram } from '../../daemon/cli/program.ts';
import { exampleConfigFile, exampleEnvFile } from '../../daemon/settings/print.ts';
import type { App } from './app.ts';
import { below, bytesOf, type Entry, fileEntry, PROGRAM, sizeOf, textEntry } from './entry.ts';
import { copyrightFile } from './licences.ts';
import { gatewayPage, svcctlPage } from './man.ts';

export type DebianArch = 'amd64' | 'arm64';

export const MAINTAINER = 'svc-gateway authors <svc-gateway@svc-gateway.invalid>';
const DOC = 'usr/share/doc/svc-gateway';

/**
 * systemd-notify, sysusers and tmpfiles belong to systemd; the rest are link dependencies of the runtime and
 * the engines.
 */
const DEPENDS = 'libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 12), systemd (>= 250)';
const RECOMMENDS = 'libvulkan1, ffmpeg, ca-certificates';

/** Example configurations of reverse proxies. */
export const PROXY_EXAMPLES: readonly string[] = ['Caddyfile', 'nginx.conf', 'traefik.yml'].map(
  (name) => `proxy/${name}`,
);

/** Examples for monitoring. None is active on its own. */
export const MONITORING_EXAMPLES: readonly string[] = [
  'grafana/svc-gateway.json',
  ...['scrape.yml', 'alerts.yml', 'alerts.test.yml'].map((name) => `prometheus/${name}`),
];

const zipped = (path: string, text: string): Entry => ({
  path: `${path}.gz`,
  mode: 0o644,
  body: gzipSync(text, { level: 9 }),
});

/** Returns the date in the format of Debian's changelog: `Mon, 02 Jan 2006 15:04:05 +0000`. */
const mailDate = (date: number): string => new Date(date * 1000).toUTCString().replace('GMT', '+0000');

function changelog(version: string, date: number): string {
  const entry = '  * Release of svc-gateway; what changed is in CHANGELOG.md of the sources.';
  return `svc-gateway (${version}) unstable; urgency=medium\n\n${entry}\n\n -- ${MAINTAINER}  ${mailDate(date)}\n`;
}

/** Everything outside the program folder. */
function systemEntries(root: string, app: App, date: number): Entry[] {
  const source = (...path: string[]) => join(root, ...path);
  const shown = { version: app.version, date };
  return [
    fileEntry('usr/bin/svc-gateway', source('packaging/debian/svc-gateway.sh'), PROGRAM),
    fileEntry('usr/bin/svcctl', source('packaging/debian/svcctl.sh'), PROGRAM),
    fileEntry('lib/systemd/system/svc-gateway.service', source('systemd/svc-gateway.service')),
    fileEntry('lib/systemd/system/svc-gateway.socket', source('systemd/svc-gateway.socket')),
    fileEntry('lib/systemd/system/svc-companion.service', source('systemd/svc-companion.service')),
    fileEntry('usr/lib/sysusers.d/svc-gateway.conf', source('systemd/svc.sysusers.conf')),
    fileEntry('usr/lib/tmpfiles.d/svc-gateway.conf', source('systemd/svc.tmpfiles.conf')),
    textEntry('usr/share/bash-completion/completions/svcctl', bashCompletion(createProgram())),
    textEntry('usr/share/zsh/vendor-completions/_svcctl', zshCompletion(createProgram())),
    textEntry('usr/share/fish/vendor_completions.d/svcctl.fish', fishCompletion(createProgram())),
    zipped('usr/share/man/man8/svc-gateway.8', gatewayPage(shown)),
    zipped('usr/share/man/man1/svcctl.1', svcctlPage(shown)),
    textEntry(`${DOC}/examples/config.toml`, exampleConfigFile()),
    textEntry(`${DOC}/examples/api.env`, exampleEnvFile()),
    fileEntry(`${DOC}/systemd.md`, source('docs/guide/systemd.md')),
    fileEntry(`${DOC}/observability.md`, source('docs/guide/observability.md')),
    fileEntry(`${DOC}/proxy.md`, source('docs/guide/proxy.md')),
    fileEntry(`${DOC}/companion.md`, source('docs/guide/companion.md')),
    fileEntry(`${DOC}/open-webui.md`, source('docs/guide/open-webui.md')),
    ...[...MONITORING_EXAMPLES, ...PROXY_EXAMPLES].map((file) =>
      fileEntry(`${DOC}/examples/${file}`, source('packaging', file)),
    ),
    fileEntry(`${DOC}/backup.md`, source('docs/guide/backup.md')),
    textEntry(`${DOC}/copyright`, copyrightFile(app.modules, app.runtime)),
    zipped(`${DOC}/changelog`, changelog(app.version, date)),
    fileEntry('usr/share/lintian/overrides/svc-gateway', source('packaging/debian/lintian-overrides')),
  ];
}

/** Every file of the Debian package, by its path below the root of the system. */
export const dataEntries = (root: string, app: App, date: number): Entry[] => [
  ...systemEntries(root, app, date),
  ...below('usr/lib/svc-gateway', app.entries),
];

const md5 = (entry: Entry): string => createHash('md5').update(bytesOf(entry)).digest('hex');

function controlFile(app: App, arch: DebianArch, data: readonly Entry[]): string {
  const kib = data.reduce((sum, entry) => sum + Math.ceil(sizeOf(entry) / 1024), 0);
  return `Package: svc-gateway
Version: ${app.version}
Architecture: ${arch}
Maintainer: ${MAINTAINER}
Installed-Size: ${kib}
Depends: ${DEPENDS}
Recommends: ${RECOMMENDS}
Suggests: podman
Section: net
Priority: optional
Description: inference gateway for a home lab
 One daemon that makes the models on this machine available to all apps in a home
 network through one private OpenAI-style API. It loads and unloads models on
 demand, can require keys, and sends no telemetry.
 .
 The package brings its own Node.js and llama.cpp.
`;
}

/** Returns the control files of the package, which dpkg reads before and after unpacking. */
export function controlEntries(root: string, app: App, arch: DebianArch, data: readonly Entry[]): Entry[] {
  const script = (name: string) => fileEntry(name, join(root, 'packaging', 'debian', name), PROGRAM);
  const sums = [...data]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((entry) => `${md5(entry)}  ${entry.path}`);
  return [
    textEntry('control', controlFile(app, arch, data)),
    textEntry('md5sums', `${sums.join('\n')}\n`),
    ...['postinst', 'prerm', 'postrm'].map(script),
  ];
}

/** Unix seconds that all files of a package get: SOURCE_DATE_EPOCH, else the time of the latest commit, else 2025-01-01. */
export function buildDate(root: string, epoch: string | undefined): number {
  if (/^\d{1,10}$/.test(epoch ?? '')) return Number(epoch);
  try {
    const text = execFileSync('git', ['log', '-1', '--format=%ct'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number(text) || Number.NaN;
  } catch {
    return Date.UTC(2025, 0, 1) / 1000;
  }
}
