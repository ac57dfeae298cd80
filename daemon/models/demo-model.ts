import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../lib/fs/atomic-file.ts';
import { ROOT } from '../lib/fs/root.ts';
import type { GgufMetadata } from './gguf-metadata.ts';

/** The fixed answer of the demonstration model (docs/spec/contract.md#demo-model). */
export const DEMO_REPLY =
  'Hello! This is the built-in demonstration model of svc-gateway. Your gateway works: llama.cpp on this machine ' +
  'wrote these words. But they are all that I know, whatever you ask. For real answers choose a model: ' +
  'open the page /setup of the gateway, or name a GGUF file in slots/agent.toml.';

export const DEMO_MODEL_ID = 'svc-demo';

/** The model as it is shipped; `scripts/demo-model.ts` makes it. */
export const DEMO_FILE = join(ROOT, 'assets', `${DEMO_MODEL_ID}.gguf`);

/** The metadata of that file. A process that reads headers costs a fifth of the CPU time of a start. */
export const DEMO_METADATA_FILE = join(ROOT, 'assets', `${DEMO_MODEL_ID}.json`);

/** Returns the metadata of the shipped model at `path`. Throws when the installation has no such file. */
export async function demoMetadata(path: string): Promise<GgufMetadata> {
  const shipped = JSON.parse(await readFile(DEMO_METADATA_FILE, 'utf8')) as Omit<GgufMetadata, 'files'>;
  return { ...shipped, files: [path] };
}

/**
 * Ensures that the demonstration model exists in `folder` and returns its path and id. Replaces a missing,
 * damaged or older file as a whole. Throws when the folder cannot be written.
 */
export async function ensureDemoModel(folder: string): Promise<{ path: string; id: string }> {
  const path = join(folder, `${DEMO_MODEL_ID}.gguf`);
  const [shipped, present] = await Promise.all([readFile(DEMO_FILE), readFile(path).catch(() => undefined)]);
  if (!present?.equals(shipped)) {
    await mkdir(folder, { recursive: true });
    await replaceFile(path, shipped, { mode: 0o644 });
  }
  return { path, id: DEMO_MODEL_ID };
}
