import { espeakVoices, findEspeak } from './espeak-voices.ts';
import type { ModelStore } from './model-store.ts';
import { findModelFile } from './scan.ts';
import { espeakModel } from './speech-model.ts';

export interface EspeakSourceDeps {
  readonly modelStore: ModelStore;
  /** Returns whether the operator enabled it. */
  isEnabled(): boolean;
  /** The search path for programs. Default: the usual folders. */
  readonly path?: string;
}

/**
 * Registers the speech program as a model while it is installed and there is no other voice, and removes it
 * when there is one. Never rejects.
 */
export async function updateEspeakModel({ modelStore, isEnabled, path }: EspeakSourceDeps): Promise<void> {
  const current = modelStore.list().find(({ format }) => format === 'program');
  const voiced = modelStore.list().some(({ type, source }) => type === 'tts' && source !== 'program');
  const program = isEnabled() && !voiced ? await findEspeak(path) : null;
  if (program === null) {
    if (current !== undefined) modelStore.remove(current.id);
    return;
  }
  const file = await findModelFile(program);
  if (file === null || (current?.path === program && current.mtimeS === file.mtimeS)) return;
  const voices = await espeakVoices(program);
  if (voices.length > 0) modelStore.put(espeakModel(file, voices));
}
