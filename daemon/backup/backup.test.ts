import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { backUp, FILES, fullHome, home, KEY, modeOf } from './testing/bench.ts';

describe('backup', () => {
  it('contains configuration, slots, upstreams and database, private from the first byte; keys only on request', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    const result = await backUp(from, file);
    expect(result).toMatchObject({ keys: false, database: true, left_out: [] });
    expect([...result.files].sort()).toEqual([
      'config/config.toml',
      'config/settings.env',
      'config/slots/agent.toml',
      'config/upstreams/box.toml',
      'state/svc.db',
    ]);
    expect(modeOf(file)).toBe(0o600);
    const bytes = gunzipSync(readFileSync(file));
    expect(bytes.includes(KEY)).toBe(false);
    expect(bytes.includes('SVC_PORT=8200')).toBe(true);
    const withKeys = join(from.root, 'k.tar.gz');
    await backUp(from, withKeys, { keys: true });
    expect(gunzipSync(readFileSync(withKeys)).includes(`SVC_ADMIN_KEY=${KEY}`)).toBe(true);
  });

  it('is a tar archive that the tar of the system can read', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    const { stdout } = spawnSync('tar', ['-tzf', file], { encoding: 'utf8' });
    expect(stdout.split('\n')[0]).toBe('manifest.json');
    const { stdout: text } = spawnSync('tar', ['-xzOf', file, 'config/config.toml'], { encoding: 'utf8' });
    expect(text).toBe(FILES['config/config.toml']);
  });

  it('lists skipped files, and replaces a file only with force', async () => {
    const from = home({ 'config/slots/My Slot.toml': 'x' });
    mkdirSync(join(from.folders.config, 'config.toml'));
    const file = join(from.root, 'b.tar.gz');
    const result = await backUp(from, file);
    expect(result.left_out).toHaveLength(2);
    expect(result.database).toBe(false);
    await expect(backUp(from, file)).rejects.toMatchObject({ code: 'backup.exists' });
    await backUp(from, file, { force: true });
  });

  it.each(['open', 'write', 'fsync', 'rename'] as const)(
    'a full disk at %s leaves nothing behind',
    async (at) => {
      const from = fullHome();
      const file = join(from.root, 'b.tar.gz');
      const before = readdirSync(from.root);
      const faults = (step: string) => {
        if (step === at) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      };
      const failed = backUp(from, file, { faults });
      await expect(failed).rejects.toMatchObject({
        code: 'backup.write_failed',
        message: expect.stringContaining('ENOSPC'),
      });
      expect(readdirSync(from.root)).toEqual(before);
      expect(readdirSync(from.folders.state).filter((name) => name.startsWith('.backup-'))).toEqual([]);
    },
  );

  it('a damaged database prevents the backup', async () => {
    const from = fullHome();
    writeFileSync(join(from.folders.state, 'svc.db'), 'x'.repeat(4096));
    const failed = backUp(from, join(from.root, 'b.tar.gz'));
    await expect(failed).rejects.toMatchObject({ code: 'backup.database' });
    expect(existsSync(join(from.root, 'b.tar.gz'))).toBe(false);
  });
});
