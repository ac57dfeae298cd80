import type { Problem } from '../../settings/problem.ts';
import type { SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import { findVoice, unknownVoiceMessage } from '../workers/speech/voice-name.ts';
import type { SlotConfig } from './slot-config.ts';

/**
 * Returns what is wrong with the default voice of a slot file; null when it exists. External engines, and models
 * with unknown voices, are not checked. Calls `model` and `line` only when needed.
 */
export function voiceProblem(
  config: SlotConfig,
  model: () => SlotModel | null,
  line: () => number | null = () => null,
): Problem | null {
  const requested = config.voice?.voice;
  if (!requested || engineOf(config.engine)?.speechFormats === undefined) return null;
  const voices = model()?.voices ?? [];
  if (voices.length === 0 || findVoice(voices, requested, 0) !== null) return null;
  return {
    file: `${config.name}.toml`,
    line: line(),
    message: `voice.voice: ${unknownVoiceMessage(voices, requested)}`,
  };
}
