import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';

export interface ModelGroup {
  label: string;
  models: V1ModelRecord[];
}

/** The capability that a mode requires of a model. */
export type Ability = 'chat' | 'embeddings' | 'rerank' | 'speech' | 'transcription' | 'image_generation';

interface AbilityRow {
  /** The default slot. */
  readonly usual: string;
  /** The kind of model, as in "No chat model". */
  readonly kind: string;
  /** The purpose for `svcctl models catalog`. */
  readonly purpose: string;
}

export const ABILITIES: Readonly<Record<Ability, AbilityRow>> = {
  chat: { usual: 'agent', kind: 'chat', purpose: 'chat' },
  embeddings: { usual: 'embed', kind: 'embedding', purpose: 'embedding' },
  rerank: { usual: 'rerank', kind: 'reranking', purpose: 'rerank' },
  speech: { usual: 'tts', kind: 'text-to-speech', purpose: 'speaking' },
  transcription: { usual: 'stt', kind: 'speech-to-text', purpose: 'hearing' },
  image_generation: { usual: 'img', kind: 'image', purpose: 'images' },
};

/** Whether a model supports chat. A model without capability data counts as able. */
export function canChat(model: V1ModelRecord): boolean {
  const { capabilities } = model;
  if (!model.architecture.output_modalities.includes('text')) return false;
  if (typeof capabilities.chat === 'boolean') return capabilities.chat;
  return !(
    capabilities.embedding ||
    capabilities.embeddings ||
    capabilities.rerank ||
    capabilities.transcription
  );
}

/** Whether a model has an ability. */
export function able(model: V1ModelRecord, ability: Ability): boolean {
  return ability === 'chat' ? canChat(model) : model.capabilities[ability] === true;
}

const GROUPS = ['Slot names', 'Models', 'Virtual names'] as const;

/** The group of a record. Virtual names are aliases too, so they are checked first. */
function groupOf({ _svc }: V1ModelRecord): (typeof GROUPS)[number] {
  if (_svc.virtual) return 'Virtual names';
  return _svc.is_alias ? 'Slot names' : 'Models';
}

/** Models with an ability, grouped into slots, models and virtual names; omits empty groups. */
export function modelsWith(ability: Ability, models: readonly V1ModelRecord[]): ModelGroup[] {
  const fit = models.filter((model) => able(model, ability));
  return GROUPS.map((label) => ({ label, models: fit.filter((row) => groupOf(row) === label) })).filter(
    (group) => group.models.length > 0,
  );
}

export interface Choice {
  /** The model for requests; null when none is available. */
  readonly model: V1ModelRecord | null;
  /** The selected model when it is no longer available. No other model replaces it. */
  readonly unavailable: string | null;
}

/** The selected model, else the default slot, else the first of the list. */
export function chosenModel(groups: readonly ModelGroup[], chosen: string | null, usual: string): Choice {
  const all = groups.flatMap((group) => group.models);
  const [first] = all;
  if (first === undefined) return { model: null, unavailable: null };
  if (chosen === null || chosen === '')
    return { model: all.find((row) => row.id === usual) ?? first, unavailable: null };
  const model = all.find((row) => row.id === chosen) ?? null;
  return { model, unavailable: model === null ? chosen : null };
}

/** Explains that the selected model is not available. */
export const unavailableMessage = (unavailable: string): string =>
  `${unavailable} is not available. Choose another model.`;
