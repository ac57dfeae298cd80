import type { Problem } from '../../settings/problem.ts';
import type { SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import { noSuchVoice, voiceNamed } from '../workers/speech/voice-name.ts';
import type { SlotConfig } from './slot-config.ts';

/**
 * What is wrong with the voice that a slot file names as its default; null for one that is there. Engines that are not
 * ours, and models of which no voices are known, are believed. `model` and the `line` of its key are asked for only
 * where it matters.
 */
export function voiceProblem(
  config: SlotConfig,
  model: () => SlotModel | null,
  line: () => number | null = () => null,
): Problem | null {
  const requested = config.voice?.voice;
  if (!requested || engineOf(config.engine)?.speechFormats === undefined) return null;
  const voices = model()?.voices ?? [];
  if (voices.length === 0 || voiceNamed(voices, requested, 0) !== null) return null;
  return {
    file: `${config.name}.toml`,
    line: line(),
    message: `voice.voice: ${noSuchVoice(voices, requested)}`,
  };
}
