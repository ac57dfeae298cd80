import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { comfyui } from './comfyui.ts';
import { custom } from './custom.ts';
import { embedded } from './embedded.ts';
import type { Engine } from './engine.ts';
import { espeak } from './espeak.ts';
import { flm } from './flm.ts';
import { keysObjection } from './keys.ts';
import { kokoro } from './kokoro.ts';
import { llamaServer } from './llama-server.ts';
import type { RunnerId } from './run-spec.ts';
import { sdServer } from './sd-server.ts';
import { speech } from './speech.ts';
import { vllm } from './vllm.ts';
import { whisperServer } from './whisper-server.ts';

/** All engines. To add one, add a file and a row here. */
export const ENGINES: readonly Engine[] = [
  embedded,
  llamaServer,
  vllm,
  flm,
  whisperServer,
  speech,
  espeak,
  sdServer,
  comfyui,
  kokoro,
  custom,
];

export const engineOf = (id: string): Engine | undefined => ENGINES.find((engine) => engine.id === id);

/** Returns the default engine for a type and, where it matters, for the format of the model's files. */
export function engineFor(type: SlotTypeName, format?: string): string {
  if (format === 'program') return espeak.id;
  if (format === 'flm') return flm.id;
  return type === 'tts' || type === 'stt' ? speech.id : embedded.id;
}

/** Returns the default runner of an engine. */
export function defaultRunnerOf(engine: string): RunnerId {
  const [first = 'worker'] = engineOf(engine)?.runners ?? [];
  return first;
}

const words = (names: Iterable<string>): string => [...names].join(', ');

/** Returns why no engine can serve such a slot, starting with the invalid key; null when one can. */
export function slotObjection(config: SlotConfig): string | null {
  const engine = engineOf(config.engine);
  if (engine === undefined) {
    return `engine: there is no engine "${config.engine}" (known: ${words(ENGINES.map(({ id }) => id))})`;
  }
  if (!engine.types.has(config.type)) {
    return `type: engine ${engine.id} serves ${words(engine.types)}, not ${config.type}`;
  }
  if (!engine.runners.has(config.runner)) {
    return `runner: engine ${engine.id} runs under ${words(engine.runners)}, not ${config.runner}`;
  }
  return keysObjection(config) ?? engine.objection(config);
}
