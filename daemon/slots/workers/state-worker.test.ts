import {
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CONVERSATION_HEADER, type ComputedReason } from '../../contract/conversation-reasons.ts';
import { readConversationHeader } from '../../contract/conversation-state.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { CHATML_WITH_CALL_MARKER } from '../../models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../../models/testing/gguf/writer.ts';
import { scale } from '../../test/harness/scale.ts';
import { listStates, modelFolderName } from '../kv-cache/state-files.ts';
import type { KvCacheConfig, WorkerConfig } from './protocol.ts';
import { attentiveModel } from './testing/attentive-model.ts';
import { type ForkedWorker, forkWorker } from './testing/forked-worker.ts';
import { type AnswerView, CHAT, TEXT, user } from './testing/worker-client.ts';

const LONG = 'A question that is long enough that reading it again would take a while. '.repeat(12);
const OTHER = 'Something else entirely, from another person, about the weather of last week. '.repeat(12);
const LIMIT_MS = 120_000;

let root: string;
let path: string;
let kvCache: KvCacheConfig;
const running = new Set<ForkedWorker>();

const model = encodeGguf(attentiveModel());
beforeEach(() => {
  path = join(scratch(), 'model.gguf');
  writeFileSync(path, model);
  root = scratch();
  kvCache = {
    root,
    folder: join(root, modelFolderName('tiny')),
    maxBytes: 64 << 20,
    maxStates: 4,
    survivesRestart: true,
  };
});
afterEach(async () => {
  await Promise.all([...running].map((worker) => worker.stop()));
  running.clear();
});

async function start(changes: Partial<WorkerConfig> = {}): Promise<ForkedWorker> {
  const worker = await forkWorker(path, { context: 4096, parallel: 1, kvCache, ...changes });
  running.add(worker);
  await worker.ready;
  return worker;
}

/** Stops a worker like the gateway does, so that it saves its states. */
async function end(worker: ForkedWorker): Promise<void> {
  worker.child.kill('SIGTERM');
  await worker.exited;
}

async function chat(worker: ForkedWorker, messages: object[], body: object = {}) {
  const response = await worker.post(CHAT, { messages, temperature: 0, max_tokens: 12, ...body });
  const conversation = readConversationHeader(response.headers.get(CONVERSATION_HEADER));
  const { choices, usage } = (await response.json()) as AnswerView;
  return {
    text: choices[0]?.message?.content ?? '',
    cached: usage?.prompt_tokens_details.cached_tokens ?? 0,
    prompt: usage?.prompt_tokens ?? 0,
    conversation,
  };
}

/** Has one conversation with its own worker, which ends afterwards. */
async function converse(messages: object[], changes: Partial<WorkerConfig> = {}): Promise<string> {
  const worker = await start(changes);
  const { text } = await chat(worker, messages);
  await end(worker);
  return text;
}

const next = (text: string) => [...user(LONG), { role: 'assistant', content: text }, ...user('and then?')];

describe('saved conversations', () => {
  test(
    'are used by the next worker, with the same answer as computing them again',
    async () => {
      const talk = next(await converse(user(LONG)));
      const again = await start();
      const restored = await chat(again, talk);
      const fresh = await chat(await start({ kvCache: null }), talk);
      expect(restored.cached).toBeGreaterThan(800);
      expect(fresh.cached).toBe(0);
      expect(restored.text).toBe(fresh.text);
      expect(again.messages.at(-1)).toMatchObject({ type: 'restored' });
      const { cached: tokens } = restored;
      expect(restored.conversation).toEqual({ outcome: 'restored', tokens, from: 'disk', reason: null });
      expect(fresh.conversation).toMatchObject({ outcome: 'computed', reason: 'not_configured' });
      const third = await chat(again, talk);
      expect(third.conversation).toMatchObject({ outcome: 'reused', tokens: third.cached });
    },
    LIMIT_MS,
  );

  test(
    'give the answers of a fresh worker, wherever the next request differs from them',
    async () => {
      await converse(user(LONG));
      const [saved, fresh] = await Promise.all([start(), start({ kvCache: null })]);
      const answers = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.nat(LONG.length), fc.string({ maxLength: 20 }), async (cut, rest) => {
          const talk = user(LONG.slice(0, cut) + rest);
          const [one, other] = await Promise.all([chat(saved, talk), chat(fresh, talk)]);
          expect(one.text).toBe(other.text);
          answers.add(one.text);
        }),
        { numRuns: scale(300) },
      );
      expect(answers.size).toBeGreaterThan(1);
    },
    LIMIT_MS,
  );

  test(
    'of two callers are kept apart',
    async () => {
      const first = await start({ parallel: 2 });
      await Promise.all([chat(first, user(LONG)), chat(first, user(OTHER))]);
      await end(first);
      expect(listStates(root)).toHaveLength(2);
      const [saved, fresh] = await Promise.all([
        start({ parallel: 2 }),
        start({ parallel: 2, kvCache: null }),
      ]);
      for (const talk of [LONG, OTHER].map((text) => [...user(text), ...user('and then?')])) {
        const one = await chat(saved, talk);
        expect(one.cached).toBeGreaterThan(700);
        expect(one.text).toBe((await chat(fresh, talk)).text);
      }
    },
    LIMIT_MS,
  );

  test(
    'of an engine that predicts tokens have none of the predictions that were not used',
    async () => {
      writeFileSync(path, encodeGguf(tinyChat()));
      const run = 'abcdefghijklmnopqrstuvwxyz'.repeat(20);
      const complete = async (worker: ForkedWorker, prompt: string) => {
        const body = { prompt, temperature: 0, max_tokens: 6 };
        return (await (await worker.post(TEXT, body)).json()) as AnswerView;
      };
      const first = await start({ ngramTokens: 4 });
      const text = (await complete(first, run)).choices[0]?.text;
      await end(first);
      const { choices, usage } = await complete(await start({ ngramTokens: 4 }), `${run}${text}ghi`);
      expect(usage?.prompt_tokens_details.cached_tokens).toBeGreaterThan(500);
      expect(choices[0]?.text).toBe('jklmno');
    },
    LIMIT_MS,
  );

  test(
    'are readable by their owner only, and replaced when the conversation goes on',
    async () => {
      const text = await converse(user(LONG));
      const [before] = listStates(root);
      await converse(next(text));
      const states = listStates(root);
      expect(states).toHaveLength(1);
      expect(states[0]?.id).not.toBe(before?.id);
      const files = readdirSync(kvCache.folder);
      expect(files).toHaveLength(2);
      for (const file of files) expect(statSync(join(kvCache.folder, file)).mode & 0o777).toBe(0o600);
      expect(statSync(kvCache.folder).mode & 0o777).toBe(0o700);
    },
    LIMIT_MS,
  );
});

/** Changes between a save and the next start. Each must be computed again, for the reason that follows. */
const MISMATCHES: readonly [string, ComputedReason, (state: string) => Partial<WorkerConfig> | undefined][] =
  [
    ['another window', 'settings_changed', () => ({ context: 2048 })],
    [
      'another model of the same size and time under the same name',
      'model_changed',
      () => {
        const { atime, mtime } = statSync(path);
        writeFileSync(path, encodeGguf(attentiveModel({ seed: 2 })));
        utimesSync(path, atime, mtime);
        return undefined;
      },
    ],
    [
      'another chat template in the file',
      'model_changed',
      () => {
        writeFileSync(path, encodeGguf(attentiveModel({ template: CHATML_WITH_CALL_MARKER })));
        return undefined;
      },
    ],
    [
      'a truncated state',
      'damaged',
      (state) => {
        truncateSync(state, statSync(state).size - 64);
        return undefined;
      },
    ],
    [
      'a state with a changed byte',
      'damaged',
      (state) => {
        const bytes = readFileSync(state);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        writeFileSync(state, bytes);
        return undefined;
      },
    ],
    [
      'a file of something else',
      'damaged',
      (state) => {
        copyFileSync(path, state);
        return undefined;
      },
    ],
  ];

describe.each(MISMATCHES)('a saved conversation with %s', (_, reason, change) => {
  test(
    'is computed again',
    async () => {
      await converse(user(LONG));
      const [state] = listStates(root);
      const changes = change(join(kvCache.folder, `${state?.id}.state`));
      const again = await chat(await start(changes), next('x'));
      expect(again.cached).toBe(0);
      expect(again.conversation).toEqual({ outcome: 'computed', tokens: 0, from: null, reason });
    },
    LIMIT_MS,
  );
});

describe('a save', () => {
  test(
    'that is killed leaves nothing that is used',
    async () => {
      const text = await converse(user(LONG));
      let worker = await start();
      for (const delayMs of [0, 10, 20]) {
        await chat(worker, user(OTHER));
        worker.child.kill('SIGTERM');
        await pause(delayMs);
        worker.child.kill('SIGKILL');
        await worker.exited;
        worker = await start();
      }
      await worker.stop();
      writeFileSync(join(kvCache.folder, `${'0'.repeat(32)}.state.${worker.child.pid}.tmp`), 'half');
      const restored = await chat(await start(), next(text));
      expect(restored.cached).toBeGreaterThan(800);
      expect(readdirSync(kvCache.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'writes nothing for a short conversation, over the limit, or once the folder is gone',
    async () => {
      await converse(user('short'));
      await converse(user(LONG), { kvCache: { ...kvCache, maxBytes: 1000 } });
      await converse(user(LONG), { kvCache: { ...kvCache, root: join(root, 'gone') } });
      expect(listStates(root)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'deletes the oldest states at the limit',
    async () => {
      const limits = { ...kvCache, maxStates: 2 };
      const ids: string[] = [];
      for (const text of ['one', 'two', 'three']) {
        await converse(user(`${text} ${LONG}`), { kvCache: limits });
        for (const { id } of listStates(root)) if (!ids.includes(id)) ids.push(id);
      }
      expect(listStates(root).map(({ id }) => id)).toEqual(ids.slice(1));
    },
    LIMIT_MS,
  );
});
