/** The text of the unit files. e2e/system/install/units.test.ts has systemd-analyze check them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../daemon/settings/catalogue.ts';

const UNITS = join(import.meta.dirname, '..', '..', 'systemd');
const service = readFileSync(join(UNITS, 'svc-gateway.service'), 'utf8');
const page = readFileSync(join(UNITS, '..', 'docs', 'guide', 'systemd.md'), 'utf8');

describe('what docs/guide/systemd.md opens is what the gateway uses', () => {
  const values = (key: string) =>
    [...page.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('another disk can replace the folder for downloads, which no setting moves', () => {
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

describe('what must never be in the unit', () => {
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

  it('reads its variables from a private file in a folder of root, and contains no key', () => {
    expect(companion).toMatch(/--env-file=\/run\/svc-companion\/env /);
    expect(companion).toMatch(/^RuntimeDirectoryMode=0700$/m);
    expect(companion).not.toMatch(/--env[ =]|-e |API_KEY=/);
  });

  it('runs one pinned version, without rights', () => {
    expect(companion).toMatch(/^Environment=SVC_OWUI_IMAGE=\S+:v\d+\.\d+\.\d+$/m);
    expect(companion).toContain('--cap-drop=all --security-opt=no-new-privileges');
  });

  it('is started only by its administrator, unless it was enabled explicitly', () => {
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
  'X01 %s writes no core dump: the memory of its processes contains keys',
  (unit) => {
    expect(readFileSync(join(UNITS, unit), 'utf8')).toMatch(/^LimitCORE=0$/m);
  },
);
