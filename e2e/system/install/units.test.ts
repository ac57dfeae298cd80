/** The unit files and the drop-ins of docs/systemd.md, checked by systemd-analyze: `verify` and `security`, both offline. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const UNITS = join(import.meta.dirname, '..', '..', '..', 'systemd');
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

  it('verify reports nothing', () => {
    const units = ['./svc-gateway.service', './svc-gateway.socket', './svc-companion.service'];
    const { status, stderr } = analyze('verify', '--recursive-errors=no', '--man=no', ...units);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('verify reports an unknown key', () => {
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

describe.skipIf(!there)('the drop-ins of docs/systemd.md', () => {
  it.each(dropIns)('%j is valid, and the exposure stays low', (text) => {
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
