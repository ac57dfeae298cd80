import type { AudioModelList, VoiceList } from '../../contract/audio.ts';
import { listModels } from '../catalogue.ts';
import { configuredName } from '../dispatch/resolve-name.ts';
import { modelNamed, type RoutingView } from '../dispatch/routing-view.ts';
import { sampleFor, voiceLanguage } from './voice-samples.ts';

/** The slot for speech requests without a model. */
const DEFAULT_SLOT = 'tts';

/** Returns whether a name refers to this voice slot. */
const matchesName = (slot: { name: string; model: string | null }, requested: string): boolean =>
  [slot.name, `svc/${slot.name}`, slot.model].includes(requested);

/**
 * Lists the voices of speech models from their files; loads nothing. Those of slot `tts` come first. A voice
 * that two models have is listed for the first. `name` restricts the list to one model or slot.
 */
export function listVoices(view: RoutingView, name: string | null): VoiceList {
  const requested = name === null ? null : (configuredName(name, view)?.target ?? name);
  const slots = view.slots
    .filter((slot) => slot.type === 'tts' && (requested === null || matchesName(slot, requested)))
    .sort((a, b) => Number(b.name === DEFAULT_SLOT) - Number(a.name === DEFAULT_SLOT));
  const voices = new Map<string, VoiceList['voices'][number]>();
  for (const { model } of slots) {
    const speaking = model === null ? undefined : modelNamed(view, model);
    for (const id of speaking?.voices ?? []) {
      if (model === null || speaking === undefined || voices.has(id)) continue;
      const language = voiceLanguage(speaking, id);
      voices.set(id, { id, name: id, model, language, sample: sampleFor(language) });
    }
  }
  return { voices: [...voices.values()] };
}

/** Lists the names that speech requests may use. */
export function listSpeakers(view: RoutingView): AudioModelList {
  const all = listModels(view, { showAll: true, owners: [] });
  const speaking = all.filter(({ architecture }) => architecture.output_modalities.includes('audio'));
  return { models: speaking.map(({ id, name }) => ({ id, name })) };
}
