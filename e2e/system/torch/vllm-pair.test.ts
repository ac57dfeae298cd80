/**
 * Two real vLLM on separate machines (containers with systemd and sshd in network namespaces), with the files and commands of
 * docs/guide/cluster.md: shared load, conversations that return, draining before a restart over ssh. Needs `--with torch`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { ROOT } from '../../../daemon/lib/fs/root.ts';
import { CHAT } from '../../../daemon/test/harness/front-gateway.ts';
import { KEYS_FILE, startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { user } from '../../../daemon/test/harness/openai.ts';
import { contentOf, dataOf, openStream } from '../../../daemon/test/harness/stream.ts';
import { envFor } from '../../../daemon/test/harness/svcctl.ts';
import { whyNoContainer } from '../../../daemon/test/harness/tree.ts';
import { codeBlock, commandsOf } from '../harness/code-blocks.ts';
import { runProgram } from '../harness/program.ts';
import { availableOrSkip, Unavailable } from '../harness/unavailable.ts';
import { NO_END } from './tiny-chats.ts';
import { type TinyVllm, tinyVllmOrSkip } from './vllm-environment.ts';
import { basePrefix, unitOnCpu, VllmMachine, writeSshHome } from './vllm-machine.ts';

const PAGE = 'cluster.md';
const FILES = {
  vllm: codeBlock(PAGE, '# upstreams/vllm.toml'),
  'vllm-2': codeBlock(PAGE, '# upstreams/vllm-2.toml'),
};
const COMMANDS = commandsOf(codeBlock(PAGE, 'enabled = false'));
const UNIT = codeBlock(PAGE, 'vllm.service');
const MODEL = /serve (\S+)/.exec(UNIT)?.[1] ?? '';
const HOSTS = ['gpu-1.lan', 'gpu-2.lan'] as const;
const KEY = 'sk-test-pair-2c8f60b5';
const CONTEXT = 4096;
/** Tokens of a stream that runs for many seconds. */
const LONG = 2_000;
const SHORT = 12;
const SHARED = 200;
/** Callers at a time, where there are several. */
const CALLERS = 4;
const MINUTE = 60_000;

const prepared = await availableOrSkip('two vLLM on separate machines', async (): Promise<TinyVllm> => {
  const reason = whyNoContainer();
  if (reason !== null) throw new Unavailable(reason);
  await runProgram('ssh', ['-V'], { limitMs: MINUTE }).catch((error: Error) => {
    throw new Unavailable(`there is no ssh here (${error.message})`);
  });
  const tiny = await tinyVllmOrSkip('two vLLM on separate machines');
  if (tiny === null) throw new Unavailable('vLLM could not be installed');
  // A container has its own /usr.
  if (basePrefix(tiny.python) === '/usr') throw new Unavailable('the Python must be outside of /usr');
  return tiny;
});

describe.skipIf(prepared === null)('two vLLM on separate machines', () => {
  /** The home folder of the person who types the commands of the guide. */
  let home = '';
  const machines: VllmMachine[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-operator-'));
    const sshKey = join(home, 'key');
    await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', sshKey], { limitMs: MINUTE });
    const options = {
      ...(prepared as TinyVllm),
      unit: unitOnCpu(UNIT, CONTEXT),
      key: KEY,
      publicKey: readFileSync(`${sshKey}.pub`, 'utf8'),
    };
    for (const at of HOSTS.keys())
      machines.push(await VllmMachine.boot({ ...options, processor: at % availableParallelism() }));
    const addresses = machines.map(({ address }, at) => `${address} ${HOSTS[at]}\n`);
    writeFileSync(join(home, 'hosts'), `127.0.0.1 localhost\n${addresses.join('')}`);
    const keys = await Promise.all(machines.map((machine) => machine.hostKey()));
    writeSshHome(
      home,
      readFileSync(sshKey, 'utf8'),
      Object.fromEntries(HOSTS.map((host, at) => [host, keys[at] ?? ''])),
    );
    // ssh takes its home from here, not from HOME.
    writeFileSync(join(home, 'passwd'), `root:x:0:0:root:${home}:/bin/sh\n`);
  }, 10 * MINUTE);
  afterAll(async () => {
    await Promise.all(machines.map((machine) => machine.remove()));
    if (home !== '') rmSync(home, { recursive: true, force: true });
  }, 2 * MINUTE);

  /** Shell lines for a mount namespace in which the names of the machines resolve. */
  const names = () => `mount --bind ${home}/hosts /etc/hosts`;
  const gateway = new OneGateway(() =>
    startGateway({
      mounts: names(),
      files: {
        'config/api.env': `${KEYS_FILE['config/api.env']}UPSTREAM_VLLM=${KEY}\n`,
        'config/slots/agent.toml': 'enabled = false\n',
        'config/upstreams/vllm.toml': FILES.vllm,
        'config/upstreams/vllm-2.toml': FILES['vllm-2'],
      },
    }),
  );
  beforeAll(() => {
    mkdirSync(join(home, '.config'));
    symlinkSync(join(gateway.home, 'config'), join(home, '.config', 'svc'));
  });

  /** Runs a line as that person types it, in the folder of the upstream files. Returns its output. */
  const type = (line: string, limitMs = MINUTE): Promise<string> =>
    runProgram(
      'unshare',
      [
        '-m',
        'sh',
        '-ec',
        `${names()}\nmount --bind ${home}/passwd /etc/passwd\ncd ~/.config/svc/upstreams\n${line}`,
      ],
      {
        limitMs,
        env: { ...envFor(gateway), HOME: home, PATH: `${join(ROOT, 'scripts')}:${process.env.PATH}` },
      },
    );
  const succeeds = (line: string) =>
    type(line).then(
      () => true,
      () => false,
    );
  const upstream = async (name: string): Promise<UpstreamRecord> =>
    (await gateway.sendAsAdmin('GET', `/api/upstreams/${name}`)).json<UpstreamRecord>();
  const write = (name: string, text: string) =>
    writeFileSync(join(gateway.home, 'config', 'upstreams', `${name}.toml`), text);

  let count = 0;
  /** A body whose conversation no server has seen. */
  const fresh = (more: object = {}) => ({
    model: MODEL,
    messages: [user(`question ${++count}`)],
    max_tokens: SHORT,
    temperature: 0,
    ...more,
  });

  /** Sends a plain or a streamed request. Returns who served it. Throws unless the answer is whole. */
  async function request(isStream: boolean): Promise<string> {
    const body = fresh(isStream ? { stream: true } : {});
    if (!isStream) {
      const { status, headers, text } = await send(gateway, 'POST', CHAT, {
        body,
        idleTimeoutMs: 2 * MINUTE,
      });
      if (status !== 200) throw new Error(`${status}: ${text}`);
      return String(headers['x-svc-upstream']);
    }
    const stream = await openStream(gateway, CHAT, body);
    const isWhole = (await stream.ended) && dataOf(stream.text()).at(-1) === '[DONE]';
    if (stream.status !== 200 || !isWhole) throw new Error(`${stream.status}: ${stream.text()}`);
    return String(stream.headers['x-svc-upstream']);
  }

  /** Sends requests, `callers` at a time, until `isOver`. Returns who served each. */
  async function load(callers: number, isOver: (sent: number) => boolean, pauseMs = 0): Promise<string[]> {
    const served: string[] = [];
    let sent = 0;
    const caller = async (at: number) => {
      while (!isOver(sent++)) {
        served.push(await request(at % 2 === 1));
        await delay(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, at) => caller(at)));
    return served;
  }
  const shareOf = (served: readonly string[]) =>
    served.filter((name) => name === 'vllm-2').length / served.length;

  it(
    'both start as services, and the model list of each is read with its key',
    async () => {
      for (const [at, machine] of machines.entries()) {
        const isUp = async () => {
          await delay(1_000);
          if ((await machine.restarts()) > 0) throw new Error('vLLM has failed');
          return succeeds(`curl -sf http://${HOSTS[at]}:8000/health`);
        };
        await until(isUp, `vLLM of ${HOSTS[at]}`, 12 * MINUTE).catch(async (error: Error) => {
          throw new Error(`${error.message}\n${await machine.log()}`);
        });
      }
      await expect(type('curl -sf http://gpu-1.lan:8000/v1/models')).rejects.toThrow('ended with 22');
      for (const name of Object.keys(FILES)) {
        await type(`svcctl upstreams test ${name}`);
        // It was polled before it was up. The next poll shows that it is back.
        await until(async () => (await upstream(name)).health === 'ok', `${name} to be ok`, MINUTE);
      }
      const explained = await type(`svcctl explain ${MODEL}`);
      expect(explained).toMatch(/\bvllm\b/);
      expect(explained).toMatch(/\bvllm-2\b/);
      // The first request of each is slow.
      await load(2, (sent) => sent >= 8);
    },
    26 * MINUTE,
  );

  /**
   * One at a time, the order alone decides. With several, the one that answers faster has fewer active requests, and two vLLM
   * share the processors of this machine.
   */
  it.each([
    [1, 0.1],
    [CALLERS, 0.3],
  ])(
    `the one with twice the weight gets two thirds of ${SHARED} requests (%d at a time, tolerance %d)`,
    async (callers, tolerance) => {
      const served = await load(callers, (sent) => sent >= SHARED);
      expect(served).toHaveLength(SHARED);
      console.info(`weight 2, ${callers} at a time: share of vllm-2 ${shareOf(served)}`);
      expect(Math.abs(shareOf(served) - 2 / 3)).toBeLessThanOrEqual(tolerance * (2 / 3));
    },
    5 * MINUTE,
  );

  it.each([
    [1, 0.1],
    [CALLERS, 0.3],
  ])(
    `equal ones share ${SHARED} requests (%d at a time, tolerance %d)`,
    async (callers, tolerance) => {
      write('vllm-2', FILES['vllm-2'].replace(/^weight = .*\n/m, ''));
      await until(async () => (await upstream('vllm-2')).weight === 1, 'the weight to change');
      const served = await load(callers, (sent) => sent >= SHARED);
      expect(served).toHaveLength(SHARED);
      console.info(`equal weights, ${callers} at a time: share of vllm-2 ${shareOf(served)}`);
      expect(Math.abs(shareOf(served) - 0.5)).toBeLessThanOrEqual(tolerance * 0.5);
    },
    5 * MINUTE,
  );

  it('a conversation returns to the one that served its beginning', async () => {
    const firsts = new Set<string>();
    for (let conversation = 0; conversation < 6; conversation++) {
      const messages: object[] = [
        { role: 'system', content: 'Be brief.' },
        user(`conversation ${conversation}`),
      ];
      const post = () => send(gateway, 'POST', CHAT, { body: fresh({ messages }), idleTimeoutMs: MINUTE });
      const { headers } = await post();
      firsts.add(String(headers['x-svc-upstream']));
      for (let turn = 0; turn < 3; turn++) {
        messages.push({ role: 'assistant', content: 'An answer.' }, user(`and ${turn}?`));
        const next = await post();
        expect([next.status, next.headers['x-svc-upstream'], next.headers['x-svc-balance']]).toEqual([
          200,
          headers['x-svc-upstream'],
          'prefix',
        ]);
      }
    }
    expect([...firsts].sort()).toEqual(['vllm', 'vllm-2']);
  });

  it(
    'the commands for a restart: running streams end whole, others are served by the other one, and no request is lost',
    async () => {
      const [go, drain = '', list = '', restart = '', health = '', undrain = '', test = ''] = COMMANDS;
      expect(COMMANDS).toHaveLength(7);
      expect(go).toBe('cd ~/.config/svc/upstreams');
      write('vllm-2', FILES['vllm-2']);
      await until(async () => (await upstream('vllm-2')).weight === 2, 'the weight of the guide');

      let isOver = false;
      const loading = load(CALLERS, (sent) => isOver && sent >= SHARED, 250);
      // A failure is reported where this is awaited.
      loading.catch(() => {});
      const streams = await Promise.all(
        Array.from({ length: 6 }, () =>
          openStream(gateway, CHAT, fresh({ ...NO_END, stream: true, max_tokens: LONG })),
        ),
      );
      const atSecond = streams.filter(({ headers }) => headers['x-svc-upstream'] === 'vllm-2');
      expect(atSecond.length).toBeGreaterThan(0);
      await until(() => streams.every((stream) => contentOf(stream.text()) !== ''), 'all streams to run');

      await type(drain);
      await until(async () => !(await upstream('vllm-2')).enabled, 'vllm-2 to be disabled');
      const runsOnSecond = async () => {
        await delay(500);
        return (await type(list)).includes('vllm-2');
      };
      expect(await runsOnSecond()).toBe(true);
      // New requests go to the other one.
      expect(await load(1, (sent) => sent >= 10)).toEqual(Array(10).fill('vllm'));
      await until(async () => !(await runsOnSecond()), 'no request to run on vllm-2', 10 * MINUTE);
      for (const stream of atSecond) {
        expect(await stream.ended).toBe(true);
        const data = dataOf(stream.text());
        expect(data.at(-1)).toBe('[DONE]');
        expect(stream.text()).toContain('"finish_reason":"length"');
      }

      const second = machines[1] as VllmMachine;
      const before = await second.pid();
      await type(restart, 2 * MINUTE);
      expect(await second.pid()).not.toBe(before);
      const isBack = async () => {
        await delay(1_000);
        return succeeds(health);
      };
      await until(isBack, 'vLLM to answer again', 12 * MINUTE);
      expect(await load(1, (sent) => sent >= 4)).toEqual(Array(4).fill('vllm'));
      await type(undrain);
      await type(test);
      expect(readFileSync(join(gateway.home, 'config', 'upstreams', 'vllm-2.toml'), 'utf8')).toBe(
        FILES['vllm-2'],
      );
      const again = await load(CALLERS, (sent) => sent >= 40);
      expect(shareOf(again)).toBeGreaterThan(0.5);

      isOver = true;
      // Each of these was answered whole; a refused or broken one throws.
      const served = await loading;
      console.info(`${served.length} requests during the restart, share of vllm-2 ${shareOf(served)}`);
      expect(served.length).toBeGreaterThanOrEqual(SHARED);
      for (const stream of streams) expect(await stream.ended).toBe(true);
    },
    30 * MINUTE,
  );
});
