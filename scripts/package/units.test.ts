/** The unit files: what systemd itself says about them, without a systemd that runs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../daemon/settings/catalogue.ts';

const UNITS = join(import.meta.dirname, '..', '..', 'systemd');
const service = readFileSync(join(UNITS, 'svc-gateway.service'), 'utf8');
/** Exposure level times ten. */
const THRESHOLD = 20;

const there = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!there) console.warn('SKIPPED, there is no systemd-analyze here: what systemd says about the units');

describe.skipIf(!there)('systemd-analyze', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-units-'));
    const runnable = service.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    writeFileSync(join(folder, 'svc-gateway.service'), runnable);
    writeFileSync(
      join(folder, 'svc-gateway.socket'),
      readFileSync(join(UNITS, 'svc-gateway.socket'), 'utf8'),
    );
    const companion = readFileSync(join(UNITS, 'svc-companion.service'), 'utf8');
    const runs = companion.replace(/^(Exec\w+=-?)\S+/gm, `$1${process.execPath}`);
    writeFileSync(join(folder, 'svc-companion.service'), runs);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const analyze = (...args: string[]) =>
    spawnSync('systemd-analyze', args, { encoding: 'utf8', cwd: folder, timeout: 60_000 });

  it('verify finds nothing to say', () => {
    const units = ['./svc-gateway.service', './svc-gateway.socket', './svc-companion.service'];
    const { status, stderr } = analyze('verify', '--recursive-errors=no', '--man=no', ...units);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('verify would have found a key that is not one', () => {
    writeFileSync(join(folder, 'wrong.service'), `${service}\n[Service]\nProtectEverything=yes\n`);
    expect(analyze('verify', '--recursive-errors=no', '--man=no', './wrong.service').status).not.toBe(0);
  });

  it(`security stays at ${THRESHOLD / 10} or below with the devices of accelerators allowed`, () => {
    const args = ['security', '--offline=true', `--threshold=${THRESHOLD}`];
    const { status, stdout } = analyze(...args, './svc-gateway.service');
    expect(stdout).toMatch(/Overall exposure level/);
    expect(status).toBe(0);
    writeFileSync(
      join(folder, 'bare.service'),
      service.replace(/^(Protect|Restrict|SystemCall|Capability).*\n/gm, ''),
    );
    expect(analyze(...args, './bare.service').status).not.toBe(0);
  });
});

const page = readFileSync(join(UNITS, '..', 'docs', 'guide', 'systemd.md'), 'utf8');
const dropIns = [...page.matchAll(/```ini\n(\[Service\][\s\S]*?)```/g)].map(([, text = '']) => text);

describe.skipIf(!there)('the drop-ins of docs/guide/systemd.md', () => {
  it.each(dropIns)('%j is understood, and leaves the exposure low', (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-drop-in-'));
    try {
      const unit = service.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
      writeFileSync(join(folder, 'svc-gateway.service'), `${unit}\n${text}`);
      const run = (...args: string[]) =>
        spawnSync('systemd-analyze', [...args, './svc-gateway.service'], { cwd: folder, encoding: 'utf8' });
      const { status, stderr } = run('verify', '--recursive-errors=no', '--man=no');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(run('security', '--offline=true', `--threshold=${THRESHOLD}`).status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are all found', () => expect(dropIns.length).toBeGreaterThanOrEqual(5));
});

describe('what docs/guide/systemd.md opens is what the gateway uses', () => {
  const values = (key: string) =>
    [...page.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('another disk takes the place of the folder for downloads, which no setting moves', () => {
    expect(values('BindPaths')).toContain('/srv/models:/var/lib/svc/models');
    expect(values('ReadWritePaths')).toEqual([]);
  });

  it('the socket of a rootless engine is named to the gateway, and its folder is shown, not one file of a past start', () => {
    const key = SETTINGS.containerSocket.toml?.replace('slots.', '');
    const [, socket = ''] = new RegExp(`^\\[slots\\]\n${key} = "(.*)"$`, 'm').exec(page) ?? [];
    expect(socket).toMatch(/^\/run\/user\/1000\//);
    expect(values('BindPaths')).toContain(`-${dirname(socket)}`);
  });
});

describe('what must never stand in the unit', () => {
  it.each([
    ['MemoryDenyWriteExecute', 'the compiler of Node dies at its start'],
    ['PrivateDevices', 'accelerators would be hidden'],
    ['SupplementaryGroups', 'a group that does not exist keeps the service from starting'],
    ['EnvironmentFile', 'the gateway reads api.env itself and would see the keys of the last start'],
  ])('%s: %s', (key) => {
    expect(service).not.toMatch(new RegExp(`^${key}=`, 'm'));
  });

  it('OOMPolicy=stop: one engine out of memory would end all', () => {
    expect(service).toMatch(/^OOMPolicy=continue$/m);
  });
});

describe('the socket unit', () => {
  const socket = readFileSync(join(UNITS, 'svc-gateway.socket'), 'utf8');

  it('comes with each start of the service once it is enabled: the service alone would listen where api.env says', () => {
    expect(socket).toMatch(/^WantedBy=sockets\.target svc-gateway\.service$/m);
  });

  it('listens before its address is there', () => {
    expect(socket).toMatch(/^FreeBind=true$/m);
  });
});

describe('the companion', () => {
  const companion = readFileSync(join(UNITS, 'svc-companion.service'), 'utf8');

  it('takes its variables from a private file in a folder of root, and names no key', () => {
    expect(companion).toMatch(/--env-file=\/run\/svc-companion\/env /);
    expect(companion).toMatch(/^RuntimeDirectoryMode=0700$/m);
    expect(companion).not.toMatch(/--env[ =]|-e |API_KEY=/);
  });

  it('runs one pinned version, without rights', () => {
    expect(companion).toMatch(/^Environment=SVC_OWUI_IMAGE=\S+:v\d+\.\d+\.\d+$/m);
    expect(companion).toContain('--cap-drop=all --security-opt=no-new-privileges');
  });

  it('is started by nobody but its administrator, unless he has enabled it, which nobody else does', () => {
    const script = readFileSync(join(UNITS, '..', 'packaging', 'debian', 'postinst'), 'utf8');
    const enabled = /if systemctl --system --quiet is-enabled svc-companion\.service .*\n.*\n {2}fi/;
    expect(script).toMatch(enabled);
    const lines = script
      .replace(enabled, '')
      .split('\n')
      .filter((line) => line.includes('svc-companion'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/update-state|try-restart/);
  });
});

it.each(['svc-gateway.service', 'svc-companion.service'])(
  'X01 %s leaves no core dump: the memory of its processes holds keys',
  (unit) => {
    expect(readFileSync(join(UNITS, unit), 'utf8')).toMatch(/^LimitCORE=0$/m);
  },
);
