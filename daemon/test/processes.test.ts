/**
 * docs/spec/contract.md#slots, engines as child processes of the gateway: how they fail, what they print, how
 * their arguments are passed, and how they end.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeOtherProgram } from '../slots/testing/other-program.ts';
import { descendants, isAlive } from './harness/descendants.ts';
import { QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { scale } from './harness/scale.ts';
import { runSlotAction, slot, waitForSlotState } from './harness/slots.ts';
import { openStream } from './harness/stream.ts';
import { ENDLESS, startTiny } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const MIB = 1 << 20;
/** Arguments that a shell would split or run, or that look like options. */
const ODD_ARGUMENTS = ['two words', ';', '$(touch pwned)', '`id`', '-x', '--', "it's", '*', '\\n', 'ünï'];
/** Prints lines, binary bytes, and lines of 10 MB: about 200 MB per second when they are read that fast. */
const FLOOD = `
const chunk = Buffer.concat([
  Buffer.from('a line of a log\\n'.repeat(4000)), Buffer.alloc(65536, 0xfe), Buffer.alloc(10 << 20, 0x78), Buffer.from('\\n'),
]);
setInterval(() => process.stdout.write(chunk), 50);
`;
const IGNORES_SIGTERM = `process.on('SIGTERM', () => {});\n`;

const home = newHome();

/** Writes the small custom engine with `first` prepended. */
function program(name: string, first: string): string {
  const plain = readFileSync(writeOtherProgram(home), 'utf8');
  const path = join(home, name);
  writeFileSync(path, `${first}\n${plain}`);
  return path;
}

const custom = (words: readonly string[], more = '') =>
  `engine = "custom"\ncommand = ${JSON.stringify(words)}\n${more}`;
const LISTEN = ['--host', '{host}', '--port', '{port}'];

function files(): Record<string, string> {
  const node = process.execPath;
  const plain = writeOtherProgram(home);
  const last = (line: string) => [node, '-e', `console.error(${JSON.stringify(line)}); process.exit(1)`];
  return {
    ...QUIET_FILE,
    'config/slots/exits.toml': custom(last('no such tensor'), 'model = "shared"\n'),
    'config/slots/well.toml': custom([node, plain, ...LISTEN], 'model = "shared"\n'),
    'config/slots/lost.toml': custom(last('ggml_vulkan: device lost: vk::Queue::submit: ErrorDeviceLost')),
    'config/slots/odd.toml': custom([node, plain, ...LISTEN, ...ODD_ARGUMENTS]),
    'config/slots/flood.toml': custom([node, program('flood.mjs', FLOOD), ...LISTEN]),
    'config/slots/stubborn.toml': custom([node, program('stubborn.mjs', IGNORES_SIGTERM), ...LISTEN]),
  };
}
const gateway = new OneGateway(() => startGateway({ home, files: files() }), { stopSignal: 'SIGKILL' });

const chat = (model: string) =>
  send(gateway, 'POST', CHAT, { body: { model, messages: [{ role: 'user', content: 'x' }] } });
const stateOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.[0] ?? '';
  } catch {
    return '';
  }
};
const zombies = () => descendants(gateway.pid).filter(({ pid }) => stateOf(pid) === 'Z');

describe('an engine that fails', () => {
  it('P01 at once, every time: parked after five failures, and a sibling with the same model serves', async () => {
    expect((await runSlotAction(gateway, 'well', 'load')).status).toBe(200);
    for (let times = 1; times <= 5; times++) {
      expect(await runSlotAction(gateway, 'exits', 'load')).toMatchObject({
        status: 503,
        code: 'slot.failed',
      });
      const { state, failure } = await slot(gateway, 'exits');
      expect(state).toBe('error');
      expect(failure).toMatchObject({
        failures: times,
        parked: times === 5,
        reason: 'The engine ended with code 1: no such tensor',
      });
      for (const model of ['shared', 'exits']) {
        const response = await chat(model);
        expect([response.status, response.headers['x-svc-slot']]).toEqual([200, 'well']);
      }
    }
    expect((await slot(gateway, 'exits')).failure?.retry_at).toBeNull();
    await runSlotAction(gateway, 'well', 'unload');
    process.kill((await runSlotAction(gateway, 'well', 'load')).json<{ pid: number }>().pid, 'SIGKILL');
    await waitForSlotState(gateway, 'well', 'error');
    const refused = await chat('exits');
    expect(refused).toMatchObject({ status: 503, code: 'slot.failed' });
    expect(refused.headers).toMatchObject({ 'x-should-retry': 'false' });
    expect(refused.headers['retry-after']).toBeUndefined();
  });

  it('P08 because its device is lost: an error with the reason and the time of the retry, and the gateway continues', async () => {
    await runSlotAction(gateway, 'lost', 'load');
    const { state, failure } = await slot(gateway, 'lost');
    expect([state, failure?.reason]).toEqual(['error', expect.stringContaining('ErrorDeviceLost')]);
    expect(failure?.retry_at).toBeGreaterThan(Date.now());
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
  });

  it('leaves no zombie', () => {
    expect(zombies()).toEqual([]);
  });
});

describe('P11 the command of a slot file', () => {
  it('reaches the program unchanged, without a shell', async () => {
    const { pid } = (await runSlotAction(gateway, 'odd', 'load')).json<{ pid: number }>();
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    expect(words.slice(-ODD_ARGUMENTS.length)).toEqual(ODD_ARGUMENTS);
    expect(existsSync(join(home, 'pwned')) || existsSync('pwned')).toBe(false);
    expect((await chat('odd')).status).toBe(200);
    await runSlotAction(gateway, 'odd', 'unload');
  });
});

describe('P11 an engine that prints endlessly', () => {
  it('delays no request, and neither memory nor logs grow', async () => {
    const resident = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024;
    expect((await runSlotAction(gateway, 'flood', 'load')).status).toBe(200);
    const before = resident();
    let longest = 0;
    for (let round = 0; round < 20; round++) {
      const since = performance.now();
      expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
      expect((await send(gateway, 'GET', '/api/slots/flood/logs?lines=10&follow=false')).status).toBe(200);
      longest = Math.max(longest, performance.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(longest).toBeLessThan(2_000);
    expect(resident() - before).toBeLessThan(150);
    const logs = join(home, 'state', 'logs');
    const bytes = readdirSync(logs)
      .filter((name) => name.startsWith('flood.'))
      .reduce((sum, name) => sum + statSync(join(logs, name)).size, 0);
    expect(bytes).toBeLessThan(64 * MIB);
    expect((await runSlotAction(gateway, 'flood', 'unload')).json()).toMatchObject({
      state: 'offline',
      failure: null,
    });
    await until(() => zombies().length === 0, 'no zombie to be left');
  });
});

describe('a stop of the gateway', () => {
  it('kills an engine that ignores SIGTERM within the time limit of systemd, and leaves no process', async () => {
    const { pid } = (await runSlotAction(gateway, 'stubborn', 'load')).json<{ pid: number }>();
    const children = descendants(gateway.pid).map((each) => each.pid);
    expect(children).toContain(pid);
    const since = performance.now();
    expect(await gateway.stop('SIGTERM')).toBe(0);
    expect(performance.now() - since).toBeLessThan(25_000);
    await until(() => !children.some((each) => isAlive(each)), 'every engine to end');
  });
});

describe('a slot that is stopped under many streams', () => {
  const tiny = new OneGateway(
    () => startTiny({ files: { 'config/config.toml': '[slots]\nqueue_max = 1000\n' } }),
    { stopSignal: 'SIGKILL' },
  );
  // More than run at once.
  const STREAMS = Math.max(50, scale(500));
  const streams = (count: number) =>
    Array.from({ length: count }, () =>
      openStream(tiny, CHAT, {
        model: 'agent',
        messages: [{ role: 'user', content: ENDLESS }],
        max_tokens: 200,
        stream: true,
      }),
    );

  it('by unload and restart: each completes, the queued ones in the next process', async () => {
    const opened = streams(STREAMS);
    await until(async () => (await slot(tiny, 'agent')).queued > 0, 'some to be queued');
    const acts = ['unload', 'restart'].map((act) => send(tiny, 'POST', `/api/slots/agent/${act}`));
    for (const streamed of await Promise.all(opened)) {
      expect(streamed.status).toBe(200);
      expect(await streamed.ended).toBe(true);
      expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    }
    for (const act of await Promise.all(acts)) expect(act.status, act.text).toBe(200);
    expect(await slot(tiny, 'agent')).toMatchObject({ active: 0, queued: 0 });
  });

  it('by SIGTERM: each completes or gets an error, none exceeds the drain limit', async () => {
    const opened = streams(STREAMS);
    await until(async () => (await slot(tiny, 'agent')).active > 0, 'some to run');
    const since = performance.now();
    const stopped = tiny.stop('SIGTERM');
    for (const outcome of await Promise.allSettled(opened)) {
      if (outcome.status === 'rejected') continue;
      const { status, ended, text } = outcome.value;
      const isComplete = await ended;
      const endedCleanly =
        text().endsWith('data: [DONE]\n\n') ||
        /"code":"(slot\.(draining|failed)|gateway\.stopping)"/.test(text());
      expect(isComplete ? endedCleanly || status === 503 : true, text().slice(-200)).toBe(true);
    }
    expect(await stopped).toBe(0);
    expect(performance.now() - since).toBeLessThan(30_000);
  });
});

describe('P13 an unexpected failure', () => {
  const INJECT: Record<string, string> = {
    'an exception in a timer': 'setTimeout(() => { throw new Error("injected"); });',
    'a rejected promise': 'Promise.reject(new Error("injected"));',
    'an exception in a listener': 'process.emit("warning", new Error("injected"));',
    'an exception while a stream is read':
      'require("node:stream").Readable.from(["x"]).on("data", () => { throw new Error("injected"); });',
  };

  it.each(Object.entries(INJECT))(
    '%s: logged once, responses complete, exit code 1, no engine left',
    async (_, code) => {
      const ownHome = newHome();
      const preload = join(ownHome, 'inject.cjs');
      const listener = code.includes('warning')
        ? 'process.on("warning", () => { throw new Error("injected"); });'
        : '';
      writeFileSync(preload, `process.on('SIGUSR2', () => { ${listener} ${code} });\n`);
      const broken = await forTest(
        startTiny({ home: ownHome, env: { NODE_OPTIONS: `--require ${preload}` } }),
      );
      const streamed = await openStream(broken, CHAT, {
        messages: [{ role: 'user', content: ENDLESS }],
        max_tokens: 2_000,
        stream: true,
      });
      await until(() => streamed.text().length > 200, 'the stream to flow');
      const engines = descendants(broken.pid).map(({ pid }) => pid);
      expect(engines.length).toBeGreaterThan(0);
      broken.signal('SIGUSR2');
      expect(await streamed.ended).toBe(true);
      expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
      expect(await broken.stop('SIGCONT')).toBe(1);
      expect(broken.output().match(/unexpected error; stopping the gateway/g)).toHaveLength(1);
      await until(() => !engines.some((pid) => isAlive(pid)), 'the engines to end');
    },
  );
});
