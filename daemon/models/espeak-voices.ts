import { runCommand } from '../lib/process/run-command.ts';
import { findProgram } from './find-program.ts';

/** The model id of the speech program. */
export const ESPEAK_ID = 'espeak-ng';
/** The default voice. */
export const ESPEAK_VOICE = 'en-us';

export interface EspeakVoice {
  /** The argument of the program: a language such as `en-us`. */
  readonly id: string;
  readonly name: string;
}

const LIST_LIMIT_MS = 5_000;
const LIST_BYTES = 256 * 1024;

/** Parses the table of `espeak-ng --voices`. Skips lines in another format. Pure. */
export function parseEspeakVoices(table: string): EspeakVoice[] {
  const voices = new Map<string, EspeakVoice>();
  for (const line of table.split('\n').slice(1)) {
    const [, id, name] = /^\s*\d+\s+([a-z][\w-]*)\s+\S+\s+(\S+)\s+\S+/i.exec(line) ?? [];
    if (id === undefined || name === undefined || voices.has(id)) continue;
    voices.set(id, { id, name: name.replaceAll('_', ' ') });
  }
  return [...voices.values()];
}

/** Returns the path of the speech program. Null when it is not installed. */
export const findEspeak = (path?: string): Promise<string | null> => findProgram(ESPEAK_ID, path);

/** Runs the program to list its voices. Empty when it fails. */
export async function espeakVoices(program: string): Promise<EspeakVoice[]> {
  const { code, stdout } = await runCommand(program, ['--voices'], {
    timeoutMs: LIST_LIMIT_MS,
    maxBytes: LIST_BYTES,
  });
  return code === 0 ? parseEspeakVoices(stdout) : [];
}
