/** `npm start`, `svcctl` and the daemon on a Node that is too old, and in a checkout without the pinned Node. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAEMON } from '../../../daemon/test/harness/gateway.ts';

const root = join(import.meta.dirname, '..', '..', '..');
let tree: string;

/** The scripts alone, with an npm that installs nothing: no pinned Node, no network. */
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(tree, name), { recursive: true });
  }
  mkdirSync(join(tree, 'bin'));
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Runs a program that detects its Node as `version`. */
function run(program: string, version: string, npm: string) {
  writeFileSync(join(tree, 'bin', 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, program],
    { cwd: tree, env: { PATH: join(tree, 'bin') }, encoding: 'utf8' },
  );
  return { status, stdout, lines: stderr.split('\n').filter((line) => line !== '') };
}

const start = (version: string, npm: string) => run(join(tree, 'scripts', 'start.mjs'), version, npm);

describe('npm start', () => {
  it.each(['18.20.4', '20.18.3', '16.0.0'])(
    'on Node %s: which one to install, before anything else',
    (version) => {
      const { status, stdout, lines } = start(version, 'echo must not run; exit 0');
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(lines).toEqual([
        `svc-gateway: Node ${version} is too old.`,
        '  Install Node 20.19 or newer; the gateway brings its own Node 24.',
      ]);
    },
  );

  it('when the packages cannot be installed', () => {
    const { status, lines } = start('20.19.0', 'exit 1');
    expect(status).toBe(1);
    expect(lines).toEqual([
      'svc-gateway: npm ci failed.',
      '  Check the network and the lines above, then try again.',
    ]);
  });

  it('without a Node 24 for this platform', () => {
    const { status, lines } = start('20.19.0', '/bin/mkdir -p node_modules');
    expect(status).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/^svc-gateway: There is no Node 24 for linux-\w+ in this install\.$/),
      '  Install Node 24 or newer and start again with it.',
    ]);
  });
});

describe('svcctl', () => {
  it('without a Node 24: one line that says where to get it', () => {
    writeFileSync(join(tree, 'bin', 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { status, stdout, stderr } = spawnSync(join(tree, 'scripts', 'svcctl'), ['status'], {
      env: { PATH: `${join(tree, 'bin')}:/usr/bin:/bin` },
      encoding: 'utf8',
    });
    rmSync(join(tree, 'bin', 'node'));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^svcctl: there is no Node 24 here\. .*npm start.*\n$/);
  });
});

describe('the daemon itself', () => {
  it('refuses an older Node before anything native is loaded', () => {
    const { status, stdout, lines } = run(DAEMON, '20.19.0', 'exit 1');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(lines).toEqual([
      'svc-gateway: Node 20.19.0 is too old for the daemon.',
      '  Start it with npm start, which installs and uses Node 24.',
    ]);
  });
});
