import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { listStates } from '../kv-cache/state-files.ts';
import type { EngineQuery, QueryEngine } from '../lifecycle/health.ts';
import type { KvCacheConfig } from '../workers/protocol.ts';
import { SavedSequences, type SavedSequencesDeps } from './saved-sequences.ts';

const ENDPOINT = { origin: 'http://127.0.0.1:1', headers: {} };
const LIVE = new AbortController().signal;
let home: string;
let config: KvCacheConfig;
beforeEach(() => {
  home = scratch();
  const root = join(home, 'kv');
  mkdirSync(root, { mode: 0o700 });
  writeFileSync(join(home, 'model.gguf'), 'GGUF weights');
  writeFileSync(join(home, 'llama-server'), 'program');
  config = { root, folder: join(root, 'model-m'), maxBytes: 1 << 30, maxStates: 64, survivesRestart: true };
});

type Answer = { status: number; body: string } | Error;

/** Tokens of a conversation: all of one conversation begin alike, and no two conversations do. */
const tokensOf = (count: number, conversation: number) =>
  Uint32Array.from({ length: count }, (_, index) => conversation * 1_000_000 + index);

/** A state file as llama.cpp writes it, with the tokens at its beginning. */
function stateFile(count: number, conversation: number): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt32LE(0x67677371, 0);
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(count, 8);
  return Buffer.concat([header, Buffer.from(tokensOf(count, conversation).buffer), Buffer.alloc(500)]);
}

/** A llama-server whose sequences have these numbers of tokens, of a conversation each. */
function engine(tokens: number[], answer: (query: EngineQuery) => Answer | null = () => null) {
  const actions: string[] = [];
  const query: QueryEngine = async (_, sent, signal) => {
    signal.throwIfAborted();
    const [, sequence, action] = /^\/slots\/(\d)\?action=(\w+)$/.exec(sent.path) ?? [];
    actions.push(`${action} ${sequence}`);
    const other = answer(sent);
    if (other instanceof Error) throw other;
    if (other !== null) return other;
    const file = join(config.folder, (sent.body as { filename: string }).filename);
    const index = Number(sequence);
    if (action === 'save') {
      const count = tokens[index] ?? 0;
      writeFileSync(file, stateFile(count, Math.floor(count / 1000) + 10 * index));
      return { status: 200, body: JSON.stringify({ n_saved: count, n_written: 1000 }) };
    }
    const restored = readFileSync(file).readUInt32LE(8);
    tokens[index] = restored;
    return { status: 200, body: JSON.stringify({ n_restored: restored, n_read: 1000 }) };
  };
  return { query, actions, tokens };
}

const HELP = '--ctx-size N\n--slot-save-path PATH';

async function opened(
  query: QueryEngine,
  {
    parallel = 2,
    args = ['-m', '{model}'],
    savesSequences = true,
    env = {} as Record<string, string>,
    help = HELP,
  } = {},
) {
  const notes: string[] = [];
  const reported: string[] = [];
  const saved = await SavedSequences.open({
    launch: {
      modelId: 'm',
      modelPath: join(home, 'model.gguf'),
      parallel,
      env: {},
      how: { args, env, savesSequences },
    } as unknown as SavedSequencesDeps['launch'],
    program: join(home, 'llama-server'),
    query,
    kvCache: {
      configFor: () => config,
      restored: (count) => void reported.push(`restored ${count}`),
      notSaved: (_slot, _model, reason) => void reported.push(reason),
      isSaved: () => {},
    },
    note: (line) => void notes.push(line),
    signal: LIVE,
    help: async () => help,
  });
  return { saved, notes, reported };
}

const files = () => (existsSync(config.folder) ? readdirSync(config.folder) : []);

/** Saves the conversations of one run. */
async function saveRun(tokens: number[], options = {}) {
  const run = engine([3, 0]);
  const { saved } = await opened(run.query, options);
  await saved?.restore(ENDPOINT, LIVE);
  run.tokens.splice(0, tokens.length, ...tokens);
  await saved?.save(ENDPOINT, 10_000);
}

/** Starts another run and returns the tokens that its sequences hold afterwards. */
async function restoreRun(options = {}) {
  const { query, tokens } = engine([3, 0]);
  const run = await opened(query, options);
  await run.saved?.restore(ENDPOINT, LIVE);
  return { tokens, ...run };
}

describe('conversations of llama-server', () => {
  test('are saved when it ends and restored by the next one', async () => {
    await saveRun([900, 1200]);
    expect(listStates(config.root)).toHaveLength(2);
    const { tokens, reported } = await restoreRun();
    expect(tokens.sort()).toEqual([1200, 900]);
    expect(reported.sort()).toEqual(['restored 1200', 'restored 900']);
  });

  test('the newest are restored when there are more than sequences', async () => {
    await saveRun([900], { parallel: 1 });
    for (const { folder, id } of listStates(config.root)) utimesSync(join(folder, `${id}.json`), 5, 5);
    await saveRun([1200], { parallel: 1 });
    const { tokens } = await restoreRun({ parallel: 1 });
    expect(tokens[0]).toBe(1200);
  });

  test('one that continues replaces its older state, another does not', async () => {
    await saveRun([900], { parallel: 1 });
    await saveRun([950], { parallel: 1 });
    expect(listStates(config.root)).toHaveLength(1);
    expect((await restoreRun({ parallel: 1 })).tokens[0]).toBe(950);
    await saveRun([1200], { parallel: 1 });
    expect(listStates(config.root)).toHaveLength(2);
  });

  test('a short one is not saved', async () => {
    await saveRun([255, 256]);
    expect(listStates(config.root)).toHaveLength(1);
  });

  test('nothing is left of one that exceeds the limit', async () => {
    config = { ...config, maxBytes: 3000 };
    await saveRun([900, 1200]);
    expect(files()).toEqual([]);
  });

  test('the oldest makes space', async () => {
    await saveRun([900], { parallel: 1 });
    config = { ...config, maxBytes: 12_000 };
    await saveRun([1200], { parallel: 1 });
    expect(listStates(config.root)).toHaveLength(1);
    expect((await restoreRun({ parallel: 1 })).tokens[0]).toBe(1200);
  });

  test('nothing is saved once the root folder is gone', async () => {
    const { query } = engine([900, 900]);
    const { saved } = await opened(query);
    await saved?.restore(ENDPOINT, LIVE);
    rmSync(config.root, { recursive: true });
    await saved?.save(ENDPOINT, 10_000);
    expect(existsSync(config.root)).toBe(false);
  });

  test.each([
    ['an engine of another kind', { savesSequences: false }],
    ['a folder of the owner', { args: ['--slot-save-path', '/own'] }],
    ['a folder of the owner in one word', { args: ['--slot-save-path=/own'] }],
    ['a folder of the owner in a variable', { env: { LLAMA_ARG_SLOT_SAVE_PATH: '/own' } }],
  ])('%s is left alone', async (_, options) => {
    const { saved, reported } = await opened(engine([]).query, options);
    expect([saved, reported]).toEqual([null, []]);
  });

  test('a build without the option starts without it, and is named', async () => {
    const { saved, notes, reported } = await opened(engine([]).query, { help: '-c, --ctx-size N' });
    expect(saved).toBeNull();
    expect(reported).toEqual([expect.stringMatching(/has no --slot-save-path/)]);
    expect(notes).toEqual(reported);
  });

  test.each(['', 'usage: wrapper PROGRAM'])(
    'a program whose help is %j may have the option',
    async (help) => {
      expect((await opened(engine([]).query, { help })).saved).not.toBeNull();
    },
  );
});

describe('a state is recomputed, not used', () => {
  const firstState = (name: string) => join(config.folder, files().find((each) => each.endsWith(name)) ?? '');

  test.each<[string, () => void, object]>([
    ['of another model file', () => writeFileSync(join(home, 'model.gguf'), 'GGUF other'), {}],
    ['of a model file that was written again', () => utimesSync(join(home, 'model.gguf'), 5, 5), {}],
    ['of another build', () => writeFileSync(join(home, 'llama-server'), 'another program'), {}],
    ['of other arguments', () => {}, { args: ['-m', '{model}', '-c', '4096'] }],
    ['of other variables', () => {}, { env: { LLAMA_ARG_CACHE_TYPE_K: 'q8_0' } }],
    ['that was changed', () => writeFileSync(firstState('.state'), stateFile(900, 1)), {}],
    ['that was cut', () => writeFileSync(firstState('.state'), '7'), {}],
    ['that has no file', () => rmSync(firstState('.state')), {}],
    ['with an unreadable description', () => writeFileSync(firstState('.json'), '{"format":1'), {}],
    ['of another format', () => writeFileSync(firstState('.json'), '{"format":2}'), {}],
  ])('%s', async (_, change, options) => {
    await saveRun([900], { parallel: 1 });
    change();
    const { tokens, reported } = await restoreRun({ parallel: 1, ...options });
    expect([tokens[0], reported]).toEqual([3, []]);
  });

  test('another number of threads changes nothing', async () => {
    await saveRun([900], { parallel: 1, args: ['-m', '{model}', '-t', '2', '-c', '4096'] });
    const { tokens } = await restoreRun({ parallel: 1, args: ['-m', '{model}', '-t', '1', '-c', '4096'] });
    expect(tokens[0]).toBe(900);
  });
});

describe('a build that cannot restore is named, and saves nothing', () => {
  const body = (value: object) => ({ status: 200, body: JSON.stringify(value) });
  const onRestore = (answer: Answer) => (query: EngineQuery) =>
    query.path.includes('restore') ? answer : null;

  test.each<[string, (query: EngineQuery) => Answer | null, RegExp]>([
    ['without the routes', () => ({ status: 404, body: '' }), /save answered with status 404/],
    ['that does not support them', () => ({ status: 501, body: '{}' }), /save answered with status 501/],
    ['that restores nothing', onRestore(body({ n_restored: 0, n_read: 0 })), /saved 3 tokens and restored 0/],
    ['that refuses to restore', onRestore({ status: 400, body: '{}' }), /restore answered with status 400/],
    ['with another answer', () => body({ ok: true }), /without the number of tokens/],
    [
      'with an answer that is no JSON',
      () => ({ status: 200, body: '<html>' }),
      /cannot restore conversations/,
    ],
    ['that saves no tokens', () => body({ n_saved: 0, n_written: 40 }), /saved no tokens/],
    ['that closes the connection', () => new Error('closed'), /closed/],
  ])('%s', async (_, answer, reason) => {
    const { query, actions } = engine([3, 0], answer);
    const { saved, notes, reported } = await opened(query);
    await saved?.restore(ENDPOINT, LIVE);
    expect(reported).toEqual([expect.stringMatching(reason)]);
    expect(notes).toEqual(reported);
    const before = actions.length;
    await saved?.save(ENDPOINT, 10_000);
    expect([actions.length - before, files()]).toEqual([0, []]);
  });
});

describe('an interrupted save leaves no state', () => {
  test.each<[string, Answer]>([
    ['the engine ends', new Error('closed')],
    ['the disk is full', { status: 500, body: '{}' }],
    ['the answer is cut', { status: 200, body: '{"n_saved":9' }],
  ])('%s', async (_, answer) => {
    let isEnding = false;
    const { query } = engine([900, 900], ({ path, body }) => {
      if (!isEnding || !path.includes('save')) return null;
      writeFileSync(join(config.folder, (body as { filename: string }).filename), 'half');
      return answer;
    });
    const { saved, notes } = await opened(query);
    await saved?.restore(ENDPOINT, LIVE);
    isEnding = true;
    await saved?.save(ENDPOINT, 10_000);
    expect([files(), notes.length]).toEqual([[], 2]);
  });

  test('the time is over', async () => {
    const { query } = engine([900, 900]);
    const { saved } = await opened(query);
    await saved?.restore(ENDPOINT, LIVE);
    const waiting: QueryEngine = (_, __, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { saved: slow } = await opened((endpoint, sent, signal) =>
      sent.path.includes('save') && signal !== LIVE
        ? waiting(endpoint, sent, signal)
        : query(endpoint, sent, signal),
    );
    await slow?.restore(ENDPOINT, LIVE);
    await slow?.save(ENDPOINT, 20);
    expect(files()).toEqual([]);
  });

  test('it writes more than the limit, and does not end by itself', async () => {
    config = { ...config, maxBytes: 10_000 };
    const { query } = engine([900, 900]);
    let saves = 0;
    const growing: QueryEngine = async (endpoint, sent, signal) => {
      if (signal === LIVE || !sent.path.includes('save')) return query(endpoint, sent, signal);
      saves += 1;
      writeFileSync(join(config.folder, (sent.body as { filename: string }).filename), Buffer.alloc(20_000));
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const { saved, notes } = await opened(growing);
    await saved?.restore(ENDPOINT, LIVE);
    expect(await saved?.save(ENDPOINT, 20_000)).toBe(false);
    expect([saves, files(), notes]).toEqual([1, [], [expect.stringMatching(/exceeds the limit/)]]);
  });
});
