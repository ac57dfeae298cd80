import { runCommand } from '../lib/process/run-command.ts';
import { findProgram } from './find-program.ts';

/** The id under which the speaking program answers. */
export const ESPEAK_ID = 'espeak-ng';
/** The voice that is used when none is named. */
export const ESPEAK_VOICE = 'en-us';

export interface EspeakVoice {
  /** What the program takes: a language such as `en-us`. */
  readonly id: string;
  readonly name: string;
}

const LIST_LIMIT_MS = 5_000;
const LIST_BYTES = 256 * 1024;

/** The voices in the table that `espeak-ng --voices` prints; lines of another shape are passed over. Pure. */
export function parseEspeakVoices(table: string): EspeakVoice[] {
  const voices = new Map<string, EspeakVoice>();
  for (const line of table.split('\n').slice(1)) {
    const [, id, name] = /^\s*\d+\s+([a-z][\w-]*)\s+\S+\s+(\S+)\s+\S+/i.exec(line) ?? [];
    if (id === undefined || name === undefined || voices.has(id)) continue;
    voices.set(id, { id, name: name.replaceAll('_', ' ') });
  }
  return [...voices.values()];
}

/** The speaking program of this machine; null when it has none. */
export const findEspeak = (path?: string): Promise<string | null> => findProgram(ESPEAK_ID, path);

/** Asks the program for its voices; empty when it does not run. */
export async function espeakVoices(program: string): Promise<EspeakVoice[]> {
  const { code, stdout } = await runCommand(program, ['--voices'], {
    timeoutMs: LIST_LIMIT_MS,
    maxBytes: LIST_BYTES,
  });
  return code === 0 ? parseEspeakVoices(stdout) : [];
}
