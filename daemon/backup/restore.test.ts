import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertRestoreComplete } from './incomplete-restore.ts';
import { backUp, FILES, fullHome, type Home, home, modeOf, outside, restoreHome } from './testing/bench.ts';

describe('restore', () => {
  it('round trip: earlier files return, later ones are removed, all private', async () => {
    const from = fullHome();
    const file = outside('b.tar.gz');
    await backUp(from, file, { keys: true });
    const before = from.snapshot();
    from.write({ 'config/slots/new.toml': 'x = 1\n', 'config/config.toml': '', 'config/api.env': 'A=b\n' });
    from.fact('mark', 'second');
    const done = await restoreHome(from, file);
    expect(from.snapshot()).toEqual(before);
    expect(existsSync(join(done.kept, 'config/slots/new.toml'))).toBe(true);
    expect(readFileSync(join(done.kept, 'config/api.env'), 'utf8')).toBe('A=b\n');
    expect(existsSync(join(done.kept, 'state/svc.db'))).toBe(true);
    for (const path of ['config/api.env', 'config/slots/agent.toml', 'state/svc.db']) {
      expect(modeOf(join(from.root, path))).toBe(0o600);
    }
    expect(modeOf(done.kept)).toBe(0o700);
  });

  it('onto an empty machine', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    const to = home();
    await restoreHome(to, file);
    expect(to.snapshot()).toMatchObject({
      'config/config.toml': FILES['config/config.toml'],
      'config/api.env': 'SVC_PORT=8200\n',
      'fact mark': 'first',
    });
    expect(modeOf(join(to.folders.config, 'slots'))).toBe(0o700);
  });

  it('without keys in the backup the keys of this machine stay unchanged, byte for byte', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    from.write({ 'config/api.env': `# ours\nSVC_ADMIN_KEY=other\nSVC_PORT=1\n` });
    await restoreHome(from, file);
    expect(readFileSync(join(from.folders.config, 'api.env'), 'utf8')).toBe(
      '# ours\nSVC_ADMIN_KEY=other\nSVC_PORT=8200\n',
    );
  });

  it('ends every browser session, because revocations since the backup are unknown', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    from.write({ 'state/secret.bin': 'x'.repeat(32) });
    await restoreHome(from, file);
    expect(existsSync(join(from.folders.state, 'secret.bin'))).toBe(false);
  });

  it('a link within the configuration is written through and stays', async () => {
    const from = home({ 'config/real/config.toml': 'old = 1\n' });
    symlinkSync('real/config.toml', join(from.folders.config, 'config.toml'));
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    from.write({ 'config/real/config.toml': 'new = 1\n' });
    await restoreHome(from, file);
    expect(readFileSync(join(from.folders.config, 'real/config.toml'), 'utf8')).toBe('old = 1\n');
  });

  it('the copy of an interrupted migration does not overwrite the restored database', async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    from.fact('mark', 'second');
    const { state } = from.folders;
    for (const ending of ['.migrating', '.copying']) {
      copyFileSync(join(state, 'svc.db'), join(state, `svc.db${ending}`));
    }
    const done = await restoreHome(from, file);
    expect(from.fact('mark')).toBe('first');
    expect(readdirSync(join(done.kept, 'state')).sort()).toEqual(
      expect.arrayContaining(['svc.db', 'svc.db.copying', 'svc.db.migrating']),
    );
  });

  it.each<[string, (config: string) => void, string]>([
    [
      'a link that leads nowhere',
      (config) => symlinkSync(outside('elsewhere.toml'), join(config, 'config.toml')),
      'config.toml is a symbolic link that leads nowhere',
    ],
    [
      'a link to a file elsewhere',
      (config) => {
        const target = outside('elsewhere.toml');
        writeFileSync(target, '');
        symlinkSync(target, join(config, 'config.toml'));
      },
      'config.toml is a symbolic link that leaves its folder',
    ],
    [
      'a folder under the name of a file',
      (config) => mkdirSync(join(config, 'slots', 'agent.toml'), { recursive: true }),
      'agent.toml is not a regular file',
    ],
    [
      'a folder at the path of a file that would be removed',
      (config) => mkdirSync(join(config, 'slots', 'other.toml'), { recursive: true }),
      'other.toml is not a regular file',
    ],
  ])('%s is reported before any change', async (_name, prepare, reason) => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    const to = home({ 'config/api.env': 'SVC_PORT=1\n' });
    to.fact('mark', 'second');
    prepare(to.folders.config);
    await expect(restoreHome(to, file)).rejects.toMatchObject({
      code: 'restore.failed',
      message: `The restore could not start (${reason}); nothing has changed.`,
    });
    expect(() => assertRestoreComplete(to.folders.state)).not.toThrow();
    expect(readFileSync(join(to.folders.config, 'api.env'), 'utf8')).toBe('SVC_PORT=1\n');
    expect(to.fact('mark')).toBe('second');
  });
});

describe('a kill at any step', () => {
  it('leaves each file old or new, prevents a start, and can be completed by the same command', {
    timeout: 120_000,
  }, async () => {
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file, { keys: true });
    const script = join(import.meta.dirname, 'testing', 'kill-during-restore.ts');
    const run = (to: Home, n: number) => spawnSync(process.execPath, [script, to.root, file, String(n)]);
    const other = {
      'config/config.toml': '# theirs\n',
      'config/api.env': 'A=b\n',
      'config/slots/x.toml': 'y\n',
    };
    const fresh = () => {
      const to = home(other);
      to.fact('mark', 'theirs');
      return to;
    };
    const old = fresh().snapshot();
    const done = fresh();
    await restoreHome(done, file);
    const expected = done.snapshot();
    let kills = 0;
    for (let n = 1; ; n++) {
      const to = fresh();
      if (run(to, n).signal !== 'SIGKILL') break;
      kills += 1;
      const { 'fact mark': mark, ...files } = to.snapshot();
      expect([old['fact mark'], expected['fact mark']]).toContain(mark);
      for (const [name, text] of Object.entries(files)) {
        if (name.startsWith('state/')) continue;
        expect([old[name], expected[name]]).toContain(text);
      }
      if (n > 1) expect(() => assertRestoreComplete(to.folders.state)).toThrow('did not finish');
      await restoreHome(to, file);
      expect(() => assertRestoreComplete(to.folders.state)).not.toThrow();
      expect(to.snapshot()).toEqual(expected);
      const backups = readdirSync(to.folders.state).filter((name) => name.startsWith('before-restore-'));
      const texts = backups.map((name) =>
        readFileSync(join(to.folders.state, name, 'config/config.toml'), 'utf8'),
      );
      expect(texts).toContain(other['config/config.toml']);
    }
    expect(kills).toBeGreaterThan(6);
  });
});
