import { chmodSync, existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import { listenOnLoopback } from '../../lib/testing/listening.ts';
import { openFiles } from '../testing/open-files.ts';
import { writeOtherProgram } from '../testing/other-program.ts';
import { ProcessBench } from '../testing/process-bench.ts';
import { freePort } from './ports.ts';
import type { RunningEngine } from './runner.ts';

let bench: ProcessBench;
const otherServers: Server[] = [];
beforeEach(() => {
  bench = new ProcessBench(process.env.PATH ?? '');
});
afterEach(async () => {
  await bench.remove();
  for (const server of otherServers.splice(0)) server.close();
});

const text = (run: RunningEngine) => run.lines().join('\n');
const expectOutput = (run: RunningEngine, part: string) =>
  vi.waitFor(() => expect(text(run)).toContain(part), { timeout: 10_000 });
const exited = (pid: number) => vi.waitFor(() => expect(startTicksOf(pid)).toBeNull(), { timeout: 5_000 });
const recordOf = (slot: string) => join(bench.folder, 'run', `${slot}.json`);

/** A foreign listener; `connections` counts its connections. */
async function foreignListener(port = 0): Promise<{ port: number; connections: () => number }> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  otherServers.push(server);
  return { port: await listenOnLoopback(server, port), connections: () => count };
}

describe('a start', () => {
  it('waits until the engine has loaded, and returns its address', async () => {
    const run = bench.start(['--loading', '2'], { key: { by: 'env', name: 'ENGINE_KEY' } });
    const loaded = await run.loaded;
    expect(loaded).toMatchObject({ device: 'cpu', context: 512, parallel: 1, threads: 1 });
    expect(loaded.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(text(run).match(/received GET \/health/g)).toHaveLength(3);
    const signal = new AbortController().signal;
    const body = { model: 'm' };
    const question = { method: 'POST', path: '/v1/chat/completions', body, limitMs: 5_000 } as const;
    expect((await bench.query(loaded, question, signal)).status).toBe(200);
    expect((await bench.query({ ...loaded, headers: {} }, question, signal)).status).toBe(401);
  });

  it('interpolates the arguments, hides the key, passes listed variables and those of the slot only', async () => {
    const run = bench.start(
      ['--model', '{model}', '--odd', '{other} ; $(x)'],
      { key: { by: 'env', name: 'ENGINE_KEY' }, env: { AT: '{port}' } },
      { env: { OWN: 'x' }, modelPath: '/m/{port}.gguf' },
    );
    const { origin, headers } = await run.loaded;
    const argv = JSON.parse(/argv (.*)/.exec(text(run))?.[1] ?? '[]');
    const port = new URL(origin).port;
    expect(argv).toEqual([
      ...['--host', '127.0.0.1', '--port', port],
      ...['--model', '/m/{port}.gguf', '--odd', '{other} ; $(x)'],
    ]);
    const key = headers.authorization?.slice('Bearer '.length) ?? '';
    expect(key).toHaveLength(43);
    expect(readFileSync(`/proc/${run.pid}/cmdline`, 'latin1')).not.toContain(key);
    const environ = readFileSync(`/proc/${run.pid}/environ`, 'latin1').split('\0');
    expect(environ).toEqual(expect.arrayContaining(['OWN=x', `AT=${port}`, `ENGINE_KEY=${key}`]));
    expect(environ.filter((entry) => /SVC_|TOKEN|NODE_OPTIONS/.test(entry))).toEqual([]);
  });

  it('delivers a key in a file that only its owner can read and that is removed with the engine', async () => {
    const run = bench.start(['--key-file', '{key_file}'], { key: { by: 'file' } });
    await run.loaded;
    expect(text(run)).toContain('key mode 600');
    const file = join(bench.folder, 'run', 'agent.key');
    expect(existsSync(file)).toBe(true);
    await run.stop(5_000);
    expect(existsSync(file)).toBe(false);
  });

  it('is recorded while it runs, and gets SIGTERM before it is killed', async () => {
    const run = bench.start();
    await run.loaded;
    const record = JSON.parse(readFileSync(recordOf('agent'), 'utf8'));
    expect(record).toMatchObject({ slot: 'agent', pid: run.pid });
    const stopped = await run.stop(10_000);
    expect(stopped).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(existsSync(recordOf('agent'))).toBe(false);
    await exited(run.pid as number);
  });
});

describe('an engine whose conversations are saved', () => {
  /** Responds to everything as llama-server does, except that the last save never ends, and ignores SIGTERM. */
  const PROGRAM = `
    import { createServer } from 'node:http';
    process.on('SIGTERM', () => console.log('received SIGTERM'));
    let saves = 0;
    createServer((request, response) => {
      console.log('received ' + request.url);
      const isSave = request.url.includes('action=save');
      if (isSave && ++saves > 1) return console.log('saves');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isSave ? { n_saved: 3, n_written: 9 } : { n_restored: 3, n_read: 9 }));
    }).listen(Number(process.argv[2]), '127.0.0.1');`;

  it('is killed after the grace time, although a save does not end', async () => {
    const folder = join(bench.folder, 'kv');
    const kvCache = {
      configFor: () => ({
        ...{ root: bench.folder, folder, maxBytes: 1 << 20, maxStates: 4 },
        survivesRestart: true,
      }),
      restored: () => {},
      notSaved: () => {},
      isSaved: () => {},
    };
    const model = join(bench.folder, 'model.gguf');
    writeFileSync(model, 'GGUF');
    const args = [writeOtherProgram(bench.folder, PROGRAM), '{port}'];
    const how = { args, savesSequences: true };
    const run = bench.start([], how, { modelPath: model }, bench.runner({ kvCache }));
    await run.loaded;
    await run.prepare?.(new AbortController().signal);
    expect(text(run)).not.toContain('cannot restore');
    const startedAt = performance.now();
    expect(await run.stop(6_000)).toMatchObject({ signal: 'SIGKILL' });
    expect(text(run)).toContain('saves');
    expect(text(run)).toContain('received SIGTERM');
    // Without the time of the save it would be 10.8 s.
    expect(performance.now() - startedAt).toBeLessThan(9_500);
  });
});

describe('a disk that fails while the engine runs', () => {
  it('does not keep the engine from ending, and is reported in the log of its slot', async () => {
    const run = bench.start(['--key-file', '{key_file}'], { key: { by: 'file' } });
    await run.loaded;
    const folder = join(bench.folder, 'run');
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder);
    expect(await run.stop(5_000)).toMatchObject({ signal: 'SIGTERM' });
    await vi.waitFor(() => {
      const log = readFileSync(join(bench.folder, 'logs', 'agent.log'), 'utf8');
      expect(log.match(/could not be removed \(ELOOP\)/g)).toHaveLength(2);
    }, 10_000);
  });
});

describe('what cannot start', () => {
  it('a missing program is named, with how to install it', async () => {
    const missing = { code: null, signal: null, reason: 'The program llama-server was not found. Get it.' };
    for (const command of ['/nowhere/at/all/llama-server', 'llama-server']) {
      const run = bench.start(
        [],
        { command, install: 'Get it.' },
        {},
        bench.runner({ environment: () => '/nowhere' }),
      );
      expect(await run.ended).toEqual(missing);
      expect(await run.stop(0)).toEqual(missing);
    }
  });

  it('a file that is not executable ends with the reason of the system', async () => {
    const file = join(bench.folder, 'broken');
    writeFileSync(file, '#!/nowhere/interpreter\n');
    chmodSync(file, 0o755);
    const { reason } = await bench.start([], { command: file }).ended;
    expect(reason).toMatch(/could not be started \(ENOENT\)|failed to execute/);
    expect(reason).not.toContain(bench.folder);
  });

  it('a host without a free port is a reason, never an exception', async () => {
    const runner = bench.runner({
      freePort: () => Promise.reject(Object.assign(new Error(), { code: 'EMFILE' })),
    });
    expect((await bench.start([], {}, {}, runner).ended).reason).toBe(
      'The engine could not be started (EMFILE).',
    );
  });
});

describe('an engine that fails', () => {
  it('while it loads, with its decisive last line as the reason', async () => {
    const run =
      bench.run(`console.error('error: cannot load model /secret/place/m.gguf'); console.error('bye');
      process.exitCode = 3;`);
    expect(await run.ended).toEqual({
      code: 3,
      signal: null,
      reason: 'The engine ended with code 3: error: cannot load model m.gguf',
    });
    expect(existsSync(recordOf('agent'))).toBe(false);
  });

  it('by never opening its port is neither loaded nor probed, and can be stopped', async () => {
    const run = bench.run(`console.log('here'); setInterval(() => {}, 1000);`);
    await expectOutput(run, 'here');
    const loaded = vi.fn();
    void run.loaded.then(loaded);
    expect((await run.stop(5_000)).signal).toBe('SIGTERM');
    expect(loaded).not.toHaveBeenCalled();
  });

  it('by responding to its health check with an unexpected status is ended with that status', async () => {
    const run = bench.start([], { probe: { path: '/nothing', loading: [503] } });
    expect((await run.ended).reason).toBe('The engine answered its health check with status 404.');
    await exited(run.pid as number);
  });

  it('by showing that it cannot do what was requested is ended with the reason', async () => {
    const unfit = [{ text: 'key by variable', reason: 'It has no GPU.' }];
    expect((await bench.start([], { unfit }).ended).reason).toBe('It has no GPU.');
  });

  it('after it was ready, by a signal from outside', async () => {
    const run = bench.start();
    await run.loaded;
    process.kill(run.pid as number, 'SIGKILL');
    expect(await run.ended).toMatchObject({
      signal: 'SIGKILL',
      reason: expect.stringMatching(/^The engine was killed \(SIGKILL\)/),
    });
  });

  it('by ignoring SIGTERM is killed after its grace, its children too', async () => {
    const run = bench.run(`import { spawn } from 'node:child_process';
      process.on('SIGTERM', () => {});
      const child = spawn('sleep', ['60'], { stdio: 'inherit' });
      child.on('spawn', () => console.log('child ' + child.pid + '.'));
      setInterval(() => {}, 1000);`);
    await expectOutput(run, '.');
    const child = Number(/child (\d+)\./.exec(text(run))?.[1]);
    expect(startTicksOf(child)).not.toBeNull();
    expect((await run.stop(50)).signal).toBe('SIGKILL');
    await exited(run.pid as number);
    await exited(child);
  });

  it('stopped at the moment of its start leaves nothing behind', async () => {
    const run = bench.start();
    const ended = await run.stop(0);
    expect(ended.reason).toBe('The engine was stopped before it had started.');
    expect(run.pid).toBeNull();
  });
});

describe('a foreign program on the port', () => {
  it('never gets a request: the engine is started again on another port', async () => {
    const other = await foreignListener();
    const ports = [other.port, await freePort()];
    const runner = bench.runner({ freePort: async () => ports.shift() as number });
    const run = bench.start([], { key: { by: 'env', name: 'ENGINE_KEY' } }, {}, runner);
    const { origin } = await run.loaded;
    expect(new URL(origin).port).not.toBe(String(other.port));
    expect(other.connections()).toBe(0);
  });

  it('that appears while the engine loads gets no request either', async () => {
    const [occupied, free] = [await freePort(), await freePort()];
    const ports = [occupied, free];
    const runner = bench.runner({ freePort: async () => ports.shift() as number });
    const file = bench.program;
    const slow = `if (process.argv.includes('${occupied}')) setInterval(() => {}, 1000);
      else await import(${JSON.stringify(file)} + '?');`;
    writeFileSync(join(bench.folder, 'slow.mjs'), slow);
    const args = [join(bench.folder, 'slow.mjs'), '--host', '{host}', '--port', '{port}'];
    const run = bench.start([], { args }, {}, runner);
    await vi.waitFor(() => expect(run.pid).not.toBeNull(), 20_000);
    const other = await foreignListener(occupied);
    expect(new URL((await run.loaded).origin).port).toBe(String(free));
    expect(other.connections()).toBe(0);
  });

  it('on every port ends the start with that reason', async () => {
    const others = [await foreignListener(), await foreignListener(), await foreignListener()];
    const ports = others.map(({ port }) => port);
    const runner = bench.runner({ freePort: async () => ports.shift() as number });
    const { reason } = await bench.start([], {}, {}, runner).ended;
    expect(reason).toBe('Another program uses the port of the engine.');
    expect(others.map(({ connections }) => connections())).toEqual([0, 0, 0]);
    const log = join(bench.folder, 'logs', 'agent.log');
    await vi.waitFor(() => expect(openFiles()).not.toContain(log), 20_000);
    expect(readFileSync(log, 'utf8').match(/gateway: Another program uses the port/g)).toHaveLength(3);
  });
});

describe('a process that several slots share', () => {
  const shared = (claim: string | null) => ({ shared: { name: 'npu', claim } });

  it('is started once, serves each, and ends with the last of them', async () => {
    const chat = bench.start([], shared('a:1b'), { slot: 'agent', context: 100 });
    const embed = bench.start([], shared(null), { slot: 'embed', context: 0 });
    const [first, second] = [await chat.loaded, await embed.loaded];
    expect(second.origin).toBe(first.origin);
    expect([first.context, second.context]).toEqual([100, 0]);
    expect(embed.pid).toBe(chat.pid);
    expect(existsSync(recordOf('@npu'))).toBe(true);
    expect((await chat.stop(5_000)).reason).toBe('The slot has left the process that it shared.');
    expect(startTicksOf(embed.pid as number)).not.toBeNull();
    expect((await embed.stop(5_000)).signal).toBe('SIGTERM');
  });

  it('refuses a second slot with another claim until the first has released it', async () => {
    const chat = bench.start([], shared('a:1b'));
    const embed = bench.start([], shared(null), { slot: 'embed' });
    await chat.loaded;
    const other = bench.start([], shared('b:1b'), { slot: 'utility' });
    expect((await other.ended).reason).toBe(
      'npu serves a:1b for another slot and can serve one such model only; unload that slot first.',
    );
    await chat.stop(5_000);
    expect((await bench.start([], shared('b:1b'), { slot: 'utility' }).loaded).origin).toBe(
      (await embed.loaded).origin,
    );
  });

  it('that dies ends for all of them, and the next start waits until the previous process has ended', async () => {
    const [chat, embed] = [bench.start([], shared('a')), bench.start([], shared(null), { slot: 'embed' })];
    await chat.loaded;
    process.kill(chat.pid as number, 'SIGKILL');
    expect((await chat.ended).signal).toBe('SIGKILL');
    expect((await embed.ended).signal).toBe('SIGKILL');
    const restarted = bench.start([], shared('a'));
    await restarted.loaded;
    const before = restarted.pid as number;
    const stopping = restarted.stop(5_000);
    const next = bench.start([], shared('a'));
    await next.loaded;
    expect(startTicksOf(before)).toBeNull();
    expect((await stopping).signal).toBe('SIGTERM');
  });
});
