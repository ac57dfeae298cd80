// Plain JavaScript for Node 20, without imports from node_modules: programs that tests run against. `npm
// test` installs those of the browser and the voice tests, `npm run test:system` all. `node
// scripts/test-tools.mjs [name…]` prints NAME=path for each, after an attempt to install missing ones.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cannotFetch, fetchParts, lockedProgram } from './test-tools/locked.mjs';
import { cannotInstall, installParts } from './test-tools/system.mjs';
import { cannotUnpack, unpackParts } from './test-tools/unpack.mjs';

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache', 'parts');

const runs = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/lib/podman'];
const onPath = (program) => FOLDERS.map((folder) => join(folder, program)).find(runs) ?? null;
const anyOf = (...programs) => programs.map(onPath).find((path) => path !== null) ?? null;
const unpacked = (name, program) => [join(cache, name, program)].find(runs) ?? null;

/** The driver file of Mesa's software Vulkan device, which the engine uses like a real device on any machine. */
function softwareVulkan() {
  const folder = '/usr/share/vulkan/icd.d';
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const name = names.find((each) => /^lvp_icd.*\.json$/.test(each));
  return name ? join(folder, name) : null;
}

/**
 * Returns the command that starts a program which needs at least this C library: the unpacked newer library,
 * or `env` when that of the system is new enough.
 */
const NEWER_LIBC = [2, 38];
function newerLibc() {
  const [major = 0, minor = 0] = (process.report.getReport().header.glibcVersionRuntime ?? '')
    .split('.')
    .map(Number);
  const isNew = major > NEWER_LIBC[0] || (major === NEWER_LIBC[0] && minor >= NEWER_LIBC[1]);
  return isNew ? onPath('env') : unpacked('libc', 'run');
}

/**
 * All tools. `variable` passes the path to the suites; `find` returns it or null; `packages` are installed on
 * the machine, `otherwise` when its sources lack them; `unpack` and `locked` use a separate folder; `missed`
 * names what is not tested without it; `optional`: installed only when named.
 */
export const PARTS = [
  {
    name: 'chromium',
    variable: 'CHROMIUM',
    // The headless shell is the same browser without windows and uses a third less CPU.
    find: () =>
      anyOf('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome') ??
      ['/snap/bin/chromium'].find(runs) ??
      null,
    packages: ['chromium-headless-shell', 'fonts-dejavu-core'],
    otherwise: ['chromium', 'fonts-dejavu-core'],
    missed: 'the dashboard in a browser',
  },
  {
    name: 'iproute2',
    variable: 'SVC_TEST_IP',
    find: () => onPath('ip'),
    packages: ['iproute2'],
    missed: 'independence of the network of this machine',
  },
  {
    name: 'espeak-ng',
    variable: 'SVC_TEST_ESPEAK_NG',
    find: () => onPath('espeak-ng'),
    packages: ['espeak-ng'],
    missed: 'a real voice',
  },
  {
    name: 'ffmpeg',
    variable: 'SVC_TEST_FFMPEG',
    find: () => onPath('ffmpeg'),
    packages: ['ffmpeg'],
    missed: 'audio formats beyond wav and pcm',
  },
  {
    name: 'podman',
    variable: 'SVC_TEST_PODMAN',
    find: () =>
      onPath('conmon') && anyOf('crun', 'runc') && anyOf('netavark', 'slirp4netns') ? onPath('podman') : null,
    packages: [
      'podman',
      'runc',
      'conmon',
      'netavark',
      'aardvark-dns',
      'catatonit',
      'iptables',
      'uidmap',
      'slirp4netns',
    ],
    missed: 'containers',
  },
  {
    name: 'vulkan',
    variable: 'SVC_TEST_VULKAN',
    find: softwareVulkan,
    packages: ['libvulkan1', 'mesa-vulkan-drivers'],
    missed: 'the embedded engine on a Vulkan device',
  },
  {
    name: 'nginx',
    variable: 'SVC_TEST_NGINX',
    find: () => onPath('nginx') ?? unpacked('nginx', 'nginx'),
    unpack: { package: 'nginx', program: 'nginx', check: ['-v'] },
    missed: 'the gateway behind nginx',
  },
  {
    name: 'caddy',
    variable: 'SVC_TEST_CADDY',
    find: () => onPath('caddy') ?? unpacked('caddy', 'caddy'),
    unpack: { package: 'caddy', program: 'caddy', check: ['version'] },
    missed: 'the gateway behind Caddy',
  },
  {
    name: 'strace',
    variable: 'SVC_TEST_STRACE',
    find: () => onPath('strace'),
    packages: ['strace'],
    missed: 'writers whose system calls fail',
  },
  {
    name: 'systemd-container',
    variable: 'SVC_TEST_NSPAWN',
    find: () => onPath('systemd-nspawn'),
    packages: ['systemd-container'],
    missed: 'the installed service under a real systemd',
  },
  {
    name: 'mmdebstrap',
    variable: 'SVC_TEST_MMDEBSTRAP',
    find: () => onPath('mmdebstrap'),
    packages: ['mmdebstrap'],
    missed: 'the installed service on a fresh Debian',
  },
  {
    name: 'llama.cpp',
    variable: 'SVC_TEST_LLAMA_SERVER',
    find: () => onPath('llama-server') ?? unpacked('llama.cpp', 'llama-server'),
    unpack: {
      package: 'llama.cpp-tools',
      program: 'llama-server',
      plugins: /^libggml-cpu-.*\.so$/,
      check: ['--version'],
    },
    missed: 'the comparison of the embedded engine with llama-server',
  },
  {
    name: 'whisper.cpp',
    variable: 'SVC_TEST_WHISPER_SERVER',
    find: () => onPath('whisper-server') ?? unpacked('whisper.cpp', 'whisper-server'),
    unpack: {
      package: 'whisper.cpp-tools',
      program: 'whisper-server',
      plugins: /^libggml-cpu-.*\.so$/,
      check: ['--help'],
    },
    missed: 'whisper-server',
  },
  {
    name: 'prometheus',
    variable: 'SVC_TEST_PROMETHEUS',
    find: () => (onPath('promtool') ? onPath('prometheus') : unpacked('prometheus', 'prometheus')),
    unpack: { package: 'prometheus', program: 'prometheus', companions: ['promtool'], check: ['--version'] },
    missed: 'the metrics, dashboard and alerts in a real Prometheus',
  },
  {
    name: 'wrk',
    variable: 'SVC_TEST_WRK',
    find: () => onPath('wrk'),
    packages: ['wrk'],
    missed: 'requests per second with a client faster than the gateway',
  },
  {
    name: 'libc',
    variable: 'SVC_TEST_LIBC',
    find: newerLibc,
    unpack: {
      package: 'libstdc++6',
      starter: 'run',
      plugins: /^lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so\.\d+$/,
      check: ['/bin/true'],
    },
    missed: 'guided fuzzing on a system with an older C library than its fuzzer was built for',
  },
  {
    name: 'jazzer',
    variable: 'SVC_TEST_JAZZER',
    find: () => lockedProgram('jazzer', 'jazzer', cache),
    locked: true,
    missed: 'coverage-guided fuzzing',
  },
  {
    name: 'stryker',
    variable: 'SVC_TEST_STRYKER',
    find: () => lockedProgram('stryker', 'stryker', cache),
    locked: true,
    missed: 'mutants of the core',
    optional: true,
  },
];

const found = (part) => [process.env[part.variable]].find((path) => path && runs(path)) ?? part.find();

/** Tries to install `parts`. Returns the reason for each failure, by name. */
function install(parts, log) {
  const refused = (kind, reason) => Object.fromEntries(kind.map(({ name }) => [name, reason]));
  const by = (kind, reason, how) => {
    if (kind.length === 0) return {};
    if (reason) return refused(kind, reason);
    log(`Installing ${kind.map(({ name }) => name).join(', ')} …`);
    return how(kind);
  };
  if (process.env.SVC_TEST_INSTALL === '0')
    return refused(parts, 'SVC_TEST_INSTALL=0 forbids the installation');
  return {
    ...by(
      parts.filter(({ packages }) => packages),
      cannotInstall(),
      installParts,
    ),
    ...by(
      parts.filter(({ unpack }) => unpack),
      cannotUnpack(),
      (kind) => unpackParts(kind, cache),
    ),
    ...by(
      parts.filter(({ locked }) => locked),
      cannotFetch(),
      (kind) => fetchParts(kind, cache),
    ),
  };
}

const DEFAULTS = PARTS.filter(({ optional }) => !optional).map(({ name }) => name);

/**
 * Finds or installs the tools of these names (default: all but the optional ones) and returns variable → path.
 * Logs missing ones.
 */
export function provide(names = DEFAULTS, log = console.log) {
  const wanted = PARTS.filter(({ name }) => names.includes(name));
  const absent = wanted.filter((part) => !found(part));
  const reasons = absent.length > 0 ? install(absent, log) : {};
  const env = {};
  for (const part of wanted) {
    const path = found(part);
    if (path) env[part.variable] = path;
    else
      log(
        `SKIP ${part.name} (${part.missed} is not tested): ${reasons[part.name] ?? 'it was not found after the installation'}`,
      );
  }
  return env;
}

/** Returns variable → path of the tools of these names that this machine has. Installs nothing. */
export function present(names) {
  const parts = PARTS.filter(({ name }) => names.includes(name));
  return Object.fromEntries(
    parts.map((part) => [part.variable, found(part)]).filter(([, path]) => path !== null),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown) {
    console.error(`Unknown tool "${unknown}". Tools: ${PARTS.map(({ name }) => name).join(', ')}`);
    process.exit(2);
  }
  const env = provide(names.length > 0 ? names : undefined, console.error);
  for (const [name, path] of Object.entries(env)) console.log(`${name}=${path}`);
}
