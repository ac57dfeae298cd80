import type { AudioModelList, VoiceList } from '../../contract/audio.ts';
import { listModels } from '../catalogue.ts';
import { modelNamed, type RoutingView } from '../dispatch/routing-view.ts';

/** The slot that speaks when a client has chosen none. */
const DEFAULT_SLOT = 'tts';

/** What a voice slot goes by. */
const matchesName = (slot: { name: string; model: string | null }, asked: string): boolean =>
  [slot.name, `svc/${slot.name}`, slot.model].includes(asked);

/**
 * The voices of the models that speak, from what was read of their files: nothing is loaded for it. Those of slot `tts`
 * come first; a name that two models have is listed for the first. With `asked` those of that model or slot only.
 */
export function listVoices(view: RoutingView, asked: string | null): VoiceList {
  const slots = view.slots
    .filter((slot) => slot.type === 'tts' && (asked === null || matchesName(slot, asked)))
    .sort((a, b) => Number(b.name === DEFAULT_SLOT) - Number(a.name === DEFAULT_SLOT));
  const voices = new Map<string, VoiceList['voices'][number]>();
  for (const { model } of slots) {
    if (model === null) continue;
    for (const id of modelNamed(view, model)?.voices ?? [])
      if (!voices.has(id)) voices.set(id, { id, name: id, model });
  }
  return { voices: [...voices.values()] };
}

/** The names under which speech can be asked for. */
export function listSpeakers(view: RoutingView): AudioModelList {
  const all = listModels(view, { showAll: true, owners: [] });
  const speaking = all.filter(({ architecture }) => architecture.output_modalities.includes('audio'));
  return { models: speaking.map(({ id, name }) => ({ id, name })) };
}
