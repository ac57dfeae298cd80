import { hash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../lib/fs/atomic-file.ts';
import { CHATML } from './gguf/chat-templates.ts';
import { tinyChat } from './gguf/tiny-chat.ts';
import { encodeGguf } from './gguf/writer.ts';

/** The fixed answer of the demonstration model (docs/spec/contract.md#demo-model). */
export const DEMO_REPLY =
  'Hello! This is the built-in demonstration model of svc-gateway. Your gateway works: llama.cpp on this machine ' +
  'wrote these words. But they are all that I know, whatever you ask. For real answers choose a model: ' +
  'open the page /setup of the gateway, or name a GGUF file in slots/agent.toml.';

export const DEMO_MODEL_ID = 'svc-demo';
/** The window in the file. One sequence of it takes 256 bytes per token, and a token is one byte of text. */
export const DEMO_CONTEXT = 65_536;
/** Scores far apart, so that the sentence is unchanged even at temperature 2. */
const DEMO_SCORES = [60, 40, 30];

/**
 * SHA-256 of the file from {@link demoBytes}. Checking an existing file is faster than generating it at each
 * start.
 */
export const DEMO_SHA256 = 'e097d630c823a263ac11257659d497d161ada9310349f1374f394e65ca6adbf2';

/** Generates the file of the model. */
export function demoBytes(): Buffer {
  return encodeGguf(
    tinyChat({
      name: DEMO_MODEL_ID,
      reply: DEMO_REPLY,
      context: DEMO_CONTEXT,
      template: CHATML,
      runs: false,
      scores: DEMO_SCORES,
    }),
  );
}

/** Compares the bytes themselves if this machine's floating point produces another sum. */
const isRight = (file: Buffer): boolean =>
  hash('sha256', file, 'hex') === DEMO_SHA256 || file.equals(demoBytes());

/**
 * Ensures that the demonstration model exists in `folder` and returns its path and id. Replaces a missing,
 * damaged or older file as a whole. Throws when the folder cannot be written.
 */
export async function ensureDemoModel(folder: string): Promise<{ path: string; id: string }> {
  const path = join(folder, `${DEMO_MODEL_ID}.gguf`);
  const present = await readFile(path).catch(() => undefined);
  if (present === undefined || !isRight(present)) {
    await mkdir(folder, { recursive: true });
    await replaceFile(path, demoBytes(), { mode: 0o644 });
  }
  return { path, id: DEMO_MODEL_ID };
}
