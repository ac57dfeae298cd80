import type { ListedContainer } from '../../../lib/container-engine/container-engine.ts';

const LABELS = {
  /** The state folder whose gateway made it. */
  state: 'svc-gateway.state',
  slot: 'svc-gateway.slot',
  /** One start of one slot. */
  nonce: 'svc-gateway.nonce',
  /** What it was made from, as a digest. */
  config: 'svc-gateway.config',
} as const;

/** By what a container of ours is known. */
export type Identity = Readonly<Record<keyof typeof LABELS, string>>;

/** The labels of an identity, or of the part of it that is looked for. */
export function labelsOf(identity: Partial<Identity>): Record<string, string> {
  const known = Object.entries(identity) as [keyof Identity, string][];
  return Object.fromEntries(known.map(([name, value]) => [LABELS[name], value]));
}

/** The identity in a container's labels; what they lack is empty and equals nothing of ours. */
export function identityOf({ labels }: Pick<ListedContainer, 'labels'>): Identity {
  const read = (name: keyof Identity) => labels[LABELS[name]] ?? '';
  return { state: read('state'), slot: read('slot'), nonce: read('nonce'), config: read('config') };
}
