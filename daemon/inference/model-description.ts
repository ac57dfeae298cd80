import type { SlotTypeName } from '../contract/slots.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { UpstreamState } from '../upstreams/port.ts';
import type { ConfiguredName } from './dispatch/configured-names.ts';
import { VIRTUAL_CHAINS, VIRTUAL_PREFIX } from './dispatch/names.ts';

const KINDS: Readonly<Record<SlotTypeName, string>> = {
  llm: 'Chat model',
  embedding: 'Embedding model',
  rerank: 'Rerank model',
  stt: 'Speech-to-text model',
  tts: 'Text-to-speech model',
  image: 'Image model',
};

/** Describes a model in a slot. */
export const slotDescription = ({ name, type, demo }: SlotView): string =>
  demo ? `Demonstration model in slot ${name}.` : `${KINDS[type]} in slot ${name} of this gateway.`;

/** Describes a name that always refers to a slot. */
export const aliasDescription = ({ name, model }: SlotView): string =>
  `Slot ${name}, ${model === null ? 'without a model' : `now ${model}`}.`;

/** Describes an alias or preset of config.toml. */
export const configuredDescription = ({ kind, target }: ConfiguredName): string =>
  kind === 'alias' ? `Alias of ${target}.` : `Preset of ${target}.`;

/** Describes a virtual name, which may have several slots. */
export function virtualDescription(id: string, slot: SlotView): string {
  const chain = Object.hasOwn(VIRTUAL_CHAINS, id) ? (VIRTUAL_CHAINS[id] as readonly string[]) : [];
  if (chain.length < 2) return aliasDescription(slot);
  const short = id.slice(VIRTUAL_PREFIX.length);
  return `Slot ${short} or, without it, ${chain.slice(1).join(' or ')}: now slot ${slot.name} with ${slot.model ?? 'no model'}.`;
}

/** Describes a model of an upstream. */
export const upstreamDescription = ({ name, remote }: UpstreamState): string =>
  remote ? `Model of the provider ${name}.` : `Model of the upstream ${name}.`;
