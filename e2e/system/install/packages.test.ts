/**
 * The output of `npm run package`: the Debian package is reproducible and complete. After `npm install -g` of the tarball the
 * gateway starts and answers a chat, and so does the container image in a real Podman.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tryPodman } from '../../../daemon/lib/container-engine/testing/podman.ts';
import { until } from '../../../daemon/test/harness/gateway.ts';
import { freshTree, whyNoContainer } from '../../../daemon/test/harness/tree.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const main = join(root, 'scripts', 'package', 'main.ts');
/** The size limit of the fast build (gzip at its fastest); that of a release is in scripts/package/main.ts. */
const GZIP_BUDGET = 130 * 2 ** 20;

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const dpkg = has('dpkg-deb');
if (!dpkg) console.warn('SKIPPED, there is no dpkg-deb here: what dpkg reads in the package');

let folder = '';
let deb = '';
let tgz = '';

/** Builds with another time zone, language, umask and working folder, which must not change the result. */
function build(out: string, umask: string, env: Record<string, string>, ...args: string[]): void {
  const line = `umask ${umask}; exec "$0" --disable-warning=ExperimentalWarning "$@"`;
  execFileSync('sh', ['-c', line, process.execPath, main, '--out', out, ...args], {
    cwd: out,
    env: { PATH: process.env.PATH ?? '', HOME: out, SOURCE_DATE_EPOCH: '1700000000', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 120_000,
  });
}

const found = (end: string, where = folder): string => {
  const name = readdirSync(where).find((each) => each.endsWith(end));
  if (!name) throw new Error(`no ${end} was built`);
  return join(where, name);
};
const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-packages-'));
  build(folder, '022', { TZ: 'UTC', LC_ALL: 'C' }, '--npm');
  deb = found('.deb');
  tgz = found('.tgz');
}, 150_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the Debian package', () => {
  it('a build in another environment is byte-identical and within the size limit', () => {
    const again = mkdtempSync(join(tmpdir(), 'svc-packages-'));
    try {
      build(again, '077', { TZ: 'Asia/Kathmandu', LC_ALL: 'C.UTF-8' });
      expect(sum(found('.deb', again))).toBe(sum(deb));
    } finally {
      rmSync(again, { recursive: true, force: true });
    }
    expect(statSync(deb).size).toBeLessThan(GZIP_BUDGET);
  }, 150_000);

  it.skipIf(!dpkg)('contains only files that run, all owned by root', () => {
    const rows = execFileSync('dpkg-deb', ['-c', deb], { encoding: 'utf8', maxBuffer: 2 ** 24 })
      .trim()
      .split('\n');
    expect(
      rows.filter((row) => !/^[-d]rwxr-xr-x |^-rw-r--r-- /.test(row) || !row.includes(' root/root ')),
    ).toEqual([]);
    const paths = rows.map((row) => row.slice(row.indexOf(' ./') + 1));
    for (const path of [
      'lib/systemd/system/svc-gateway.service',
      'usr/bin/svcctl',
      'usr/lib/svc-gateway/bin/node',
    ]) {
      expect(paths).toContain(`./${path}`);
    }
    expect(paths.some((path) => path.startsWith('./etc'))).toBe(false);
    const foreignFiles =
      /\.(test\.js|ts|map)$|\/(testing|fixtures)\/|node_modules\/(vitest|typescript|react|@types)\//;
    expect(paths.filter((path) => foreignFiles.test(path))).toEqual([]);
  });

  it.skipIf(!dpkg)(
    'every import of the daemon resolves to a file of the package',
    () => {
      const unpacked = join(folder, 'unpacked');
      execFileSync('dpkg-deb', ['-x', deb, unpacked]);
      const daemon = join(unpacked, 'usr', 'lib', 'svc-gateway', 'daemon');
      const missing: string[] = [];
      for (const entry of readdirSync(daemon, { recursive: true, withFileTypes: true })) {
        if (!entry.name.endsWith('.js')) continue;
        const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
        for (const [, target = ''] of text.matchAll(
          /(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+\.js)'/g,
        )) {
          if (!statSync(join(entry.parentPath, target), { throwIfNoEntry: false }))
            missing.push(`${entry.name}: ${target}`);
        }
      }
      expect(missing).toEqual([]);
      rmSync(unpacked, { recursive: true });
    },
    60_000,
  );

  it('the scripts of the package are POSIX shell', () => {
    for (const name of ['postinst', 'prerm', 'postrm', 'svc-gateway.sh', 'svcctl.sh']) {
      expect(spawnSync('sh', ['-n', join(root, 'packaging', 'debian', name)]).status).toBe(0);
    }
  });
});

/** Waits until a started gateway responds, and sends a chat. */
async function firstChat(port: number, output: () => string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers, `the gateway to answer: ${output()}`, 60_000);
  const body = JSON.stringify({ model: 'agent', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  return await answer.text();
}

describe('npm install -g', () => {
  let prefix = '';
  let gateway: ChildProcess | null = null;
  const ended = () => new Promise((resolve) => gateway?.once('exit', resolve));
  afterAll(() => void gateway?.kill('SIGKILL'));

  it('needs no network and no script, and the installed gateway answers a chat', async () => {
    prefix = join(folder, 'global');
    const npm = [
      'install',
      '-g',
      '--offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefix',
      prefix,
      tgz,
    ];
    execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000 });
    const program = join(prefix, 'bin', 'svc-gateway');
    expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(execFileSync(join(prefix, 'bin', 'svcctl'), ['--help'], { encoding: 'utf8' })).toContain('svcctl');
    const home = join(folder, 'home');
    gateway = spawn(program, [], {
      env: { PATH: '/usr/bin:/bin', SVC_HOME: home, SVC_PORT: '0', SVC_ESPEAK: 'off' },
    });
    let output = '';
    for (const stream of [gateway.stdout, gateway.stderr])
      stream?.on('data', (chunk) => {
        output += String(chunk);
      });
    const port = () => Number(/Address\s+http:\/\/[^:]+:(\d+)/.exec(output)?.[1]);
    await until(() => port() > 0, 'the address', 60_000);
    expect(await firstChat(port(), () => output)).toContain('demonstration');
    const stopped = ended();
    gateway.kill('SIGTERM');
    expect(await stopped).toBe(0);
  }, 240_000);
});

/** A base image without a registry: the file tree of the container tests. */
describe('the image', () => {
  it('is built from its Dockerfile, starts as an unprivileged user, and answers a chat', async (context) => {
    const reason = whyNoContainer();
    const { podman, obstacle } = reason === null ? await tryPodman() : { podman: null, obstacle: reason };
    if (podman === null) {
      console.warn(`SKIPPED, the image is not built: ${obstacle}`);
      return context.skip();
    }
    const work = mkdtempSync(join(tmpdir(), 'svc-image-'));
    try {
      const archive = join(work, 'base.tar');
      execFileSync('tar', ['-C', freshTree(), '-cf', archive, '.']);
      podman.run('import', '-q', archive, 'localhost/base:latest');
      rmSync(archive);
      copyFileSync(tgz, join(work, basename(tgz)));
      const definition = join(root, 'packaging', 'Containerfile');
      podman.run(
        'build',
        '-q',
        '-f',
        definition,
        '--build-arg',
        'BASE=localhost/base:latest',
        '-t',
        'svc-gateway',
        work,
      );
      podman.run(
        'run',
        '-d',
        '--name',
        'gateway',
        '-p',
        '127.0.0.1::8080',
        '--read-only',
        '--cap-drop',
        'all',
        'localhost/svc-gateway',
      );
      const port = Number(podman.run('port', 'gateway', '8080/tcp').trim().split(':').at(-1));
      expect(await firstChat(port, () => podman.run('logs', 'gateway'))).toContain('demonstration');
      expect(podman.run('exec', 'gateway', 'id', '-u').trim()).toBe('10001');
      podman.run('stop', '-t', '30', 'gateway');
      expect(podman.run('inspect', '-f', '{{.State.ExitCode}}', 'gateway').trim()).toBe('0');
    } finally {
      await podman.remove();
      rmSync(work, { recursive: true, force: true });
    }
  }, 240_000);
});
