import { espeakVoices, findEspeak } from './espeak-voices.ts';
import type { Shelf } from './model-store.ts';
import { findModelFile } from './scan.ts';
import { espeakModel } from './speech-model.ts';

export interface EspeakGuestOptions {
  readonly shelf: Shelf;
  /** Whether the operator wants it. */
  wanted(): boolean;
  /** Where programs are looked for; default the usual folders. */
  readonly path?: string;
}

/**
 * The speaking program is a model as long as there is no other voice and it is installed: a voice without weights, which
 * steps aside for a real one. Never rejects.
 */
export async function settleEspeak({ shelf, wanted, path }: EspeakGuestOptions): Promise<void> {
  const guest = shelf.list().find(({ format }) => format === 'program');
  const voiced = shelf.list().some(({ type, source }) => type === 'tts' && source !== 'program');
  const program = wanted() && !voiced ? await findEspeak(path) : null;
  if (program === null) {
    if (guest !== undefined) shelf.remove(guest.id);
    return;
  }
  const file = await findModelFile(program);
  if (file === null || (guest?.path === program && guest.mtimeS === file.mtimeS)) return;
  const voices = await espeakVoices(program);
  if (voices.length > 0) shelf.put(espeakModel(file, voices));
}
