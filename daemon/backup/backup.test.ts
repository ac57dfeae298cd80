import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { forged, gzipped, type Home, makeHome, modeOf, putBack, take } from './testing/bench.ts';

const homes: Home[] = [];
function home(files: Record<string, string> = {}): Home {
  const made = makeHome(files);
  homes.push(made);
  return made;
}
afterEach(() => {
  for (const { root } of homes.splice(0)) rmSync(root, { recursive: true, force: true });
});

const KEY = 'sk-canary-7d1f0a9b3c5e';
const FILES = {
  'config/config.toml': '# mine\n[server]\nport = 8123\n',
  'config/api.env': `# old ${KEY}\nSVC_ADMIN_KEY=${KEY}\nSVC_PORT=8200\nUPSTREAM_X=${KEY}\n`,
  'config/slots/agent.toml': 'model = "a"\n',
  'config/upstreams/box.toml': 'base_url = "http://box:8080/v1"\n',
};

function full(): Home {
  const made = home(FILES);
  made.fact('mark', 'first');
  return made;
}

describe('backup', () => {
  it('holds configuration, slots, upstreams and database, private from the first byte; no key unless asked', async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    const made = await take(from, file);
    expect(made).toMatchObject({ keys: false, database: true, left_out: [] });
    expect([...made.files].sort()).toEqual([
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
    await take(from, withKeys, { keys: true });
    expect(gunzipSync(readFileSync(withKeys)).includes(`SVC_ADMIN_KEY=${KEY}`)).toBe(true);
  });

  it('is a tar that the system reads', async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    const { stdout } = spawnSync('tar', ['-tzf', file], { encoding: 'utf8' });
    expect(stdout.split('\n')[0]).toBe('manifest.json');
    const { stdout: text } = spawnSync('tar', ['-xzOf', file, 'config/config.toml'], { encoding: 'utf8' });
    expect(text).toBe(FILES['config/config.toml']);
  });

  it('names what it leaves out, and replaces a file only when told to', async () => {
    const from = home({ 'config/slots/My Slot.toml': 'x' });
    mkdirSync(join(from.folders.config, 'config.toml'));
    const file = join(from.root, 'b.tar.gz');
    const made = await take(from, file);
    expect(made.left_out).toHaveLength(2);
    expect(made.database).toBe(false);
    await expect(take(from, file)).rejects.toMatchObject({ code: 'backup.exists' });
    await take(from, file, { force: true });
  });

  it.each(['open', 'write', 'fsync', 'rename'] as const)(
    'a full disk at %s leaves nothing behind',
    async (at) => {
      const from = full();
      const file = join(from.root, 'b.tar.gz');
      const before = readdirSync(from.root);
      const faults = (step: string) => {
        if (step === at) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      };
      const failed = take(from, file, { faults });
      await expect(failed).rejects.toMatchObject({
        code: 'backup.write_failed',
        message: expect.stringContaining('ENOSPC'),
      });
      expect(readdirSync(from.root)).toEqual(before);
      expect(readdirSync(from.folders.state).filter((name) => name.startsWith('.backup-'))).toEqual([]);
    },
  );

  it('a damaged database is no backup', async () => {
    const from = full();
    writeFileSync(join(from.folders.state, 'svc.db'), 'x'.repeat(4096));
    const failed = take(from, join(from.root, 'b.tar.gz'));
    await expect(failed).rejects.toMatchObject({ code: 'backup.database' });
    expect(existsSync(join(from.root, 'b.tar.gz'))).toBe(false);
  });
});

describe('restore', () => {
  it('goes round: what was there before comes back, what came since goes, all private', async () => {
    const from = full();
    const file = join(from.root, '..', `${from.root.split('/').at(-1)}.tar.gz`);
    await take(from, file, { keys: true });
    const before = from.picture();
    from.write({ 'config/slots/new.toml': 'x = 1\n', 'config/config.toml': '', 'config/api.env': 'A=b\n' });
    from.fact('mark', 'second');
    const done = await putBack(from, file);
    rmSync(file);
    expect(from.picture()).toEqual(before);
    expect(existsSync(join(done.kept, 'config/slots/new.toml'))).toBe(true);
    expect(readFileSync(join(done.kept, 'config/api.env'), 'utf8')).toBe('A=b\n');
    expect(existsSync(join(done.kept, 'state/svc.db'))).toBe(true);
    for (const path of ['config/api.env', 'config/slots/agent.toml', 'state/svc.db']) {
      expect(modeOf(join(from.root, path))).toBe(0o600);
    }
    expect(modeOf(done.kept)).toBe(0o700);
  });

  it('onto an empty machine', async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    const to = home();
    await putBack(to, file);
    expect(to.picture()).toMatchObject({
      'config/config.toml': FILES['config/config.toml'],
      'config/api.env': 'SVC_PORT=8200\n',
      'fact mark': 'first',
    });
    expect(modeOf(join(to.folders.config, 'slots'))).toBe(0o700);
  });

  it('without keys in the backup those of this machine stay, byte for byte', async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    from.write({ 'config/api.env': `# ours\nSVC_ADMIN_KEY=other\nSVC_PORT=1\n` });
    await putBack(from, file);
    expect(readFileSync(join(from.folders.config, 'api.env'), 'utf8')).toBe(
      '# ours\nSVC_ADMIN_KEY=other\nSVC_PORT=8200\n',
    );
  });

  it('ends every browser session: what was revoked since the backup is unknown', async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    from.write({ 'state/secret.bin': 'x'.repeat(32) });
    await putBack(from, file);
    expect(existsSync(join(from.folders.state, 'secret.bin'))).toBe(false);
  });

  it('a link within the configuration is written through and stays', async () => {
    const from = home({ 'config/real/config.toml': 'old = 1\n' });
    symlinkSync('real/config.toml', join(from.folders.config, 'config.toml'));
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    from.write({ 'config/real/config.toml': 'new = 1\n' });
    await putBack(from, file);
    expect(readFileSync(join(from.folders.config, 'real/config.toml'), 'utf8')).toBe('old = 1\n');
  });
});

describe('hostile archives', () => {
  const row = (name: string, content: Buffer | string, size?: number) => ({
    name,
    size: size ?? content.length,
    sha256: '0'.repeat(64),
  });
  const manifest = (files: object[] = [], more: object = {}) => ({
    name: 'manifest.json',
    content: Buffer.from(
      JSON.stringify({
        format: 1,
        product: 'svc-gateway',
        version: '1',
        made_at: 'now',
        schema: 1,
        keys: true,
        files,
        ...more,
      }),
    ),
  });
  const config = Buffer.from('[server]\n');
  const named = [row('config/config.toml', config)];

  it.each([
    ['a path out of its folder', [manifest([row('../../etc/cron.d/x', config)])], 'no backup holds'],
    ['an absolute path', [manifest([row('/etc/passwd', config)])], 'no backup holds'],
    ['a path with dots inside', [manifest([row('config/slots/../../x.toml', config)])], 'no backup holds'],
    ['a hidden slot', [manifest([row('config/slots/.x.toml', config)])], 'no backup holds'],
    ['the signing secret', [manifest([row('state/secret.bin', config)])], 'no backup holds'],
    ['a name twice in its list', [manifest([...named, ...named])], 'twice'],
    ['a huge file', [manifest([row('config/config.toml', config, 2 ** 40)])], 'too large'],
    [
      'keys that it denies',
      [manifest([row('config/api.env', config)], { keys: false })],
      'says that it holds none',
    ],
    ['no list', [{ name: 'config/config.toml', content: config }], 'does not begin with the list'],
    ['a list that is a link', [{ name: 'manifest.json', type: '2' }], 'does not begin with the list'],
    ['a list that is no JSON', [{ name: 'manifest.json', content: config }], 'can not be read'],
    ['a member that is not in its list', [manifest(), { name: '../x', content: config }], 'does not name'],
    ['a symbolic link', [manifest(named), { name: 'config/config.toml', type: '2' }], 'no ordinary file'],
    ['a hard link', [manifest(named), { name: 'config/config.toml', type: '1' }], 'no ordinary file'],
    ['a device', [manifest(named), { name: 'config/config.toml', type: '3' }], 'no ordinary file'],
    ['a pipe', [manifest(named), { name: 'config/config.toml', type: '6' }], 'no ordinary file'],
    ['a folder', [manifest(named), { name: 'config/', type: '5' }], 'no ordinary file'],
    [
      'another size',
      [manifest(named), { name: 'config/config.toml', content: Buffer.alloc(99) }],
      'another size',
    ],
    ['a wrong sum', [manifest(named), { name: 'config/config.toml', content: config }], 'the sum of'],
    ['less than it says', [manifest(named)], 'lacks config/config.toml'],
  ])('%s is refused and nothing changes', async (_, members, words) => {
    const to = full();
    const before = to.picture();
    const file = gzipped(join(to.root, '..', `${to.root.split('/').at(-1)}.gz`), forged(members));
    const refused = putBack(to, file);
    await expect(refused).rejects.toMatchObject({
      code: 'restore.invalid',
      message: expect.stringContaining(words),
    });
    rmSync(file);
    expect(to.picture()).toEqual(before);
  });

  it('a member twice is refused', async () => {
    const to = full();
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file);
    const bytes = gunzipSync(readFileSync(file));
    const at = bytes.indexOf('config/config.toml\0');
    const twice = Buffer.concat([bytes.subarray(0, at + 1024), bytes.subarray(at)]);
    await expect(putBack(to, gzipped(file, twice))).rejects.toMatchObject({ code: 'restore.invalid' });
  });

  it('a bomb stops at the size that it may have, long before it is unpacked', async () => {
    const to = full();
    const bomb = Buffer.alloc(64 << 20);
    const file = gzipped(join(to.root, 'b.gz'), forged([{ name: 'manifest.json', content: bomb }]));
    await expect(putBack(to, file)).rejects.toMatchObject({ code: 'restore.invalid' });
    expect(readdirSync(to.folders.state)).not.toContain('restore.staging');
  });

  it('newer forms and newer schemas are told apart from damage', async () => {
    const to = full();
    const file = join(to.root, 'b.gz');
    gzipped(file, forged([manifest([], { format: 2 })]));
    await expect(putBack(to, file)).rejects.toMatchObject({ code: 'restore.newer' });
    gzipped(file, forged([manifest([row('state/svc.db', config)], { schema: 9999 })]));
    await expect(putBack(to, file)).rejects.toMatchObject({ code: 'restore.newer' });
  });

  it('cut at any place it is refused, and so are files that are no archive', async () => {
    const to = full();
    const before = to.picture();
    const whole = join(to.root, '..', `${to.root.split('/').at(-1)}.gz`);
    await take(to, whole);
    const bytes = readFileSync(whole);
    for (const share of [0, 0.001, 0.2, 0.5, 0.9, 0.999]) {
      writeFileSync(whole, bytes.subarray(0, Math.floor(bytes.length * share)));
      await expect(putBack(to, whole)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    for (const content of ['', 'not an archive', Buffer.alloc(4096, 7)]) {
      writeFileSync(whole, content);
      await expect(putBack(to, whole)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    rmSync(whole);
    for (const path of [whole, to.root, '/dev/null']) {
      await expect(putBack(to, path)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    expect(to.picture()).toEqual(before);
  });
});

describe('a kill at any step', () => {
  it('leaves each file old or new, no gateway starts on it, and the same command ends it', {
    timeout: 120_000,
  }, async () => {
    const from = full();
    const file = join(from.root, 'b.tar.gz');
    await take(from, file, { keys: true });
    const script = join(import.meta.dirname, 'testing', 'restore-and-die.ts');
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
    const old = fresh().picture();
    const done = fresh();
    await putBack(done, file);
    const goal = done.picture();
    let kills = 0;
    for (let n = 1; ; n++) {
      const to = fresh();
      if (run(to, n).signal !== 'SIGKILL') break;
      kills += 1;
      const { 'fact mark': mark, ...files } = to.picture();
      expect([old['fact mark'], goal['fact mark']]).toContain(mark);
      for (const [name, text] of Object.entries(files)) {
        if (name.startsWith('state/')) continue;
        expect([old[name], goal[name]]).toContain(text);
      }
      expect(run(to, 0).status).toBe(0);
      expect(to.picture()).toEqual(goal);
      const kept = readdirSync(to.folders.state).filter((name) => name.startsWith('before-restore-'));
      const texts = kept.map((name) =>
        readFileSync(join(to.folders.state, name, 'config/config.toml'), 'utf8'),
      );
      expect(texts).toContain(other['config/config.toml']);
    }
    expect(kills).toBeGreaterThan(6);
  });
});
