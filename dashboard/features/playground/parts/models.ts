import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';

/** One model under the name that requests use, and its other names. */
export interface ModelRow {
  readonly model: V1ModelRecord;
  readonly others: readonly V1ModelRecord[];
}

/** The models of this machine, or of one upstream. */
export interface ModelGroup {
  readonly label: string;
  readonly rows: readonly ModelRow[];
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

const LOCAL_OWNER = 'svc';
const LOCAL_LABEL = 'On this machine';

/** The model behind a name: all names of one model are one row. */
const targetOf = ({ id, owned_by, _svc }: V1ModelRecord): string => `${owned_by} ${_svc.resolves_to ?? id}`;

/** How well a name stands for its model: the default slot, another slot, the model itself, then other aliases. */
function rank({ id, _svc }: V1ModelRecord, usual: string): number {
  if (id === usual) return 0;
  if (_svc.is_alias === true && _svc.virtual !== true && _svc.slot === id) return 1;
  return _svc.is_alias === true ? 3 : 2;
}

function rowOf(names: readonly V1ModelRecord[], usual: string): ModelRow[] {
  const [model, ...others] = names.toSorted((a, b) => rank(a, usual) - rank(b, usual));
  return model === undefined ? [] : [{ model, others }];
}

/** Models with an ability: one row per model, those of this machine first, then those of each upstream. */
export function modelsWith(ability: Ability, models: readonly V1ModelRecord[]): ModelGroup[] {
  const { usual } = ABILITIES[ability];
  const fit = models.filter((model) => able(model, ability));
  const byOwner = Map.groupBy(fit, ({ owned_by }) => owned_by);
  const owners = [...byOwner.keys()].sort((a, b) => Number(b === LOCAL_OWNER) - Number(a === LOCAL_OWNER));
  return owners.map((owner) => {
    const names = [...Map.groupBy(byOwner.get(owner) ?? [], targetOf).values()];
    const rows = names.flatMap((all) => rowOf(all, usual));
    return {
      label: owner === LOCAL_OWNER ? LOCAL_LABEL : owner,
      rows: rows.toSorted((a, b) => rank(a.model, usual) - rank(b.model, usual)),
    };
  });
}

const contains = (text: string, words: readonly string[]): boolean =>
  words.every((word) => text.toLowerCase().includes(word));

/** The rows that match a search. A matching other name is a separate row, so that it can be chosen. */
export function matchingRows(groups: readonly ModelGroup[], query: string): ModelGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...groups];
  return groups
    .map(({ label, rows }) => ({
      label,
      rows: rows.flatMap(({ model, others }) => {
        const names = others
          .filter(({ id }) => contains(id, words))
          .map((each) => ({ model: each, others: [] }));
        const own = contains(`${model.id} ${model.name} ${model._svc.resolves_to ?? ''} ${label}`, words);
        return own ? [{ model, others: others.filter(({ id }) => !contains(id, words)) }, ...names] : names;
      }),
    }))
    .filter(({ rows }) => rows.length > 0);
}

export interface Choice {
  /** The model for requests; null when none is available. */
  readonly model: V1ModelRecord | null;
  /** The selected model when it is no longer available. No other model replaces it. */
  readonly unavailable: string | null;
}

/** The selected model, else the default slot, else the first of the list. */
export function chosenModel(groups: readonly ModelGroup[], chosen: string | null, usual: string): Choice {
  const all = groups.flatMap(({ rows }) => rows.flatMap(({ model, others }) => [model, ...others]));
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
