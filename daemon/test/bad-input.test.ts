/** Invalid input at startup: one clear line, the next step, a non-zero exit code, and never a stack trace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import type { Problem } from '../settings/problem.ts';
import { openDatabase } from '../store/open.ts';
import { MIGRATIONS } from '../store/schema.ts';
import { DAEMON, type GatewayOptions, QUIET_FILE, refusedStart, startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { slot, waitForSlotState } from './harness/slots.ts';

let home: string;
beforeEach(() => {
  home = newHome();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const at = (...names: string[]) => join(home, ...names);

/** Starts the daemon, expects exit code 1 and returns its output. */
async function startAndFail(options: GatewayOptions = {}): Promise<string> {
  const { code, text } = await refusedStart({ ...options, home });
  expect(code, text).toBe(1);
  return text;
}

/** Expects one line with the error, one with the next step, and nothing else except log lines. */
function expectClear(output: string, message: RegExp, advice: RegExp): void {
  const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines.length, output).toBe(2);
  expect(lines[0]).toMatch(/^svc-gateway: \S/);
  expect(lines[0]).toMatch(message);
  expect(lines[1]).toMatch(/^ {2}\S/);
  expect(lines[1]).toMatch(advice);
  expect(output).not.toMatch(/^\s+at |node:internal|Error:/m);
}

describe('the listener', () => {
  it('a port that is in use', async () => {
    const other = createServer();
    const port = await listenOnLoopback(other);
    const output = await startAndFail({ env: { SVC_PORT: String(port) } });
    other.close();
    expectClear(
      output,
      new RegExp(`Cannot listen on 127.0.0.1 port ${port}`),
      /Stop it, or choose another.*SVC_PORT/,
    );
  });

  it.each([
    ['an address of another machine', '10.255.255.254', /EADDRNOTAVAIL/, /Correct SVC_BIND_HOST/],
    [
      'a public address without keys',
      '8.8.8.8',
      /reachable from the internet/,
      /SVC_ADMIN_KEY and SVC_REQUIRE_AUTH/,
    ],
  ])('%s', async (_, host, message, advice) => {
    expectClear(await startAndFail({ env: { SVC_BIND_HOST: host } }), message, advice);
  });
});

describe('the folders', () => {
  it.each(['config', 'state'])('a file where the %s folder should be', async (name) => {
    writeFileSync(at(name), '');
    const what = name === 'config' ? 'configuration' : 'state';
    expectClear(
      await startAndFail(),
      new RegExp(`the ${what} folder .*ENOTDIR`),
      /mkdir -p .* or set SVC_HOME/,
    );
  });

  it('a folder that is not writable', async () => {
    const output = await startAndFail({ env: { SVC_HOME: '/proc/svc' } });
    expectClear(output, /configuration folder \/proc\/svc\/config cannot be used \(ENOENT\)/, /set SVC_HOME/);
  });

  it.runIf(process.getuid?.() === 0)('a folder of another user', async () => {
    mkdirSync(at('config'), { mode: 0o700 });
    chmodSync(home, 0o755);
    const child = spawn(process.execPath, [DAEMON], {
      env: { PATH: process.env.PATH ?? '', SVC_HOME: home, SVC_PORT: '0' },
      uid: 65_534,
      gid: 65_534,
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expectClear(output, /configuration folder .*EACCES/, /user 65534 may write/);
  });

  it('no variable that names a folder', async () => {
    const output = await startAndFail({ env: { SVC_HOME: '', HOME: '' } });
    expectClear(output, /no folder for configuration/, /set SVC_HOME/);
  });

  it('a state folder that another gateway uses', async () => {
    const first = await startGateway({ home, files: QUIET_FILE });
    const output = await startAndFail();
    await first.stop();
    expectClear(output, new RegExp(`Another gateway \\(process ${first.pid}\\)`), /Stop it first|SVC_HOME/);
  });
});

describe('config.toml', () => {
  it.each([
    ['invalid TOML', '[server]\nport = \n', /config\.toml line 2 is not valid TOML/],
    ['invalid UTF-8', Buffer.from('a = "\xff"\n', 'latin1').toString('latin1'), null],
  ])('%s at the first start, without a last good configuration', async (_, text, message) => {
    mkdirSync(at('config'), { recursive: true });
    writeFileSync(at('config', 'config.toml'), message ? text : Buffer.from(text, 'latin1'));
    expectClear(
      await startAndFail(),
      message ?? /config\.toml line 1 .*UTF-8/,
      /Correct it, or move the file away/,
    );
  });

  it('a folder of that name', async () => {
    mkdirSync(at('config', 'config.toml'), { recursive: true });
    expectClear(await startAndFail(), /config\.toml is not a regular file/, /move the file away/);
  });

  it('F01 F03 broken after a good start: starts with the last good values and enforcement on, and names the line', async () => {
    const files = { ...QUIET_FILE, 'config/config.toml': '[security]\nrequire_auth = true\n' };
    const first = await startGateway({ home, files });
    await first.stop();
    const second = await startGateway({ home, files: { 'config/config.toml': '[security\n' } });
    await second.stop();
    expect(second.output()).toMatch(/Enforcement {4}on/);
    expect(second.output()).toMatch(
      /! config\.toml:1: is not valid TOML.*last good configuration stays active/,
    );
  });
});

describe('api.env and slot files: unreadable lines are reported by number, the others are used', () => {
  it('starts and reports them', async () => {
    const gateway = await startGateway({
      home,
      files: {
        ...QUIET_FILE,
        'config/api.env':
          'SVC_ADMIN_KEY=abcdefghijklmnop\nset SVC_CLIENT_KEY=x\nno assignment\nUPSTREAM_A=x # y\n',
        'config/slots/bad.toml': 'parallel = 0\nnonsense = 1\n',
      },
    });
    await gateway.stop();
    expect(gateway.output()).toMatch(/! api\.env:2: has no valid name/);
    expect(gateway.output()).toMatch(/! api\.env:4: has " #" in its value/);
    expect(gateway.output()).toMatch(/! api\.env:3: is not NAME=value/);
    expect(gateway.output()).toMatch(/! (slots\/)?bad\.toml:1: .*parallel/);
    expect(gateway.output()).not.toContain('abcdefghijklmnop');
  });

  it('an api.env that other users can read: prints the command that fixes it', async () => {
    mkdirSync(at('config'));
    writeFileSync(at('config', 'api.env'), 'SVC_ADMIN_KEY=abcdefghijklmnop\n', { mode: 0o644 });
    const gateway = await startGateway({ home, files: QUIET_FILE });
    await gateway.stop();
    expect(gateway.output()).toMatch(/! api\.env: can be read by other users \(mode 644\); run chmod 600/);
  });
});

describe('K11 secret.bin', () => {
  const good = Buffer.alloc(32, 7);
  const write = (mode: number, bytes = good) => writeFileSync(at('state', 'secret.bin'), bytes, { mode });
  it.each([
    ['wider than 0600', () => write(0o644), /has mode 0644, wider than 0600/],
    ['too short', () => write(0o600, Buffer.alloc(31)), /has 31 bytes instead of 32/],
    [
      'a link',
      () => {
        writeFileSync(at('elsewhere'), good, { mode: 0o600 });
        symlinkSync(at('elsewhere'), at('state', 'secret.bin'));
      },
      /is a symlink/,
    ],
  ])('%s: does not start and replaces nothing', async (_, prepare, message) => {
    mkdirSync(at('state'), { recursive: true });
    prepare();
    expectClear(await startAndFail(), message, /remove secret\.bin/);
  });
});

describe('Q04 a database of a newer release', () => {
  it('is rejected and not changed', async () => {
    mkdirSync(at('state'), { recursive: true });
    const next = { version: MIGRATIONS.length + 1, name: 'future', sql: 'CREATE TABLE of_the_future (a)' };
    const migrations = [...MIGRATIONS, next];
    openDatabase({ folder: at('state'), migrations, build: () => null }).db.close();
    const before = readFileSync(at('state', 'svc.db'));
    expectClear(await startAndFail(), /The database has schema \d+/, /./);
    expect(readFileSync(at('state', 'svc.db')).equals(before)).toBe(true);
  });
});

describe('the model file', () => {
  const model = encodeGguf(tinyChat());
  const write = (bytes: Buffer | string) => writeFileSync(at('m.gguf'), bytes);
  it.each([
    ['is missing', () => {}, /the file does not exist/],
    ['is a folder', () => mkdirSync(at('m.gguf')), /it is a folder; give the path of a \.gguf file in it/],
    ['is no GGUF', () => write('hello'.repeat(100)), /it is not a GGUF file/],
    [
      'is cut off in its weights',
      () => write(model.subarray(0, model.length - 5000)),
      /shorter than its header states/,
    ],
    ['is no chat model', () => write(encodeGguf(tinyEmbed())), /not a chat model \(its type is embedding\)/],
  ])('of --model %s', async (_, prepare, message) => {
    prepare();
    const output = await startAndFail({ args: ['--model', at('m.gguf')] });
    expectClear(output, message, /\.gguf chat model|needs a chat model/);
    expect(output).toContain(`--model names ${at('m.gguf')}`);
  });

  it.each([
    ['SVC_MODEL', (path: string) => ({ 'config/api.env': `SVC_MODEL=${path}\n` })],
    [
      'models.agent in config.toml',
      (path: string) => ({ 'config/config.toml': `[models]\nagent = "${path}"\n` }),
    ],
  ])('of %s that is missing is reported, and served once it exists', async (origin, files) => {
    const path = at('late.gguf');
    const gateway = await startGateway({ home, files: files(path) });
    try {
      const problems = async () =>
        (await send(gateway, 'GET', '/api/settings')).json<{ problems: Problem[] }>().problems;
      const message = expect.stringContaining(`${origin} names late.gguf, `);
      expect(await problems()).toMatchObject([{ message }]);
      await waitForSlotState(gateway, 'agent', 'ready');
      writeFileSync(path, model);
      await expect.poll(() => slot(gateway, 'agent'), { timeout: 30_000 }).toMatchObject({ model: 'late' });
      expect(await problems()).toEqual([]);
    } finally {
      await gateway.stop();
    }
  });
});

describe('the command line', () => {
  it.each([
    [['--nope'], /Unknown option '--nope'/],
    [['--model', ''], /--model needs a path/],
    [['config', '--model', 'x', 'y'], /There is no command "config y"/],
  ])('%j', async (args, message) => {
    expectClear(await startAndFail({ args }), message, /--help|--model FILE/);
  });
});
