import type { ListedContainer } from '../../../lib/container-engine/container-engine.ts';

const LABELS = {
  /** The id of the state folder of the gateway that created it. */
  state: 'svc-gateway.state',
  slot: 'svc-gateway.slot',
  /** One start of one slot. */
  nonce: 'svc-gateway.nonce',
  /** A digest of what it was created from. */
  config: 'svc-gateway.config',
} as const;

/** What identifies a container of this gateway. */
export type Identity = Readonly<Record<keyof typeof LABELS, string>>;

/** Returns the labels of an identity, or of the part of it to search for. */
export function labelsOf(identity: Partial<Identity>): Record<string, string> {
  const known = Object.entries(identity) as [keyof Identity, string][];
  return Object.fromEntries(known.map(([name, value]) => [LABELS[name], value]));
}

/** Returns the identity in a container's labels. Missing labels are empty and never match. */
export function identityOf({ labels }: Pick<ListedContainer, 'labels'>): Identity {
  const read = (name: keyof Identity) => labels[LABELS[name]] ?? '';
  return { state: read('state'), slot: read('slot'), nonce: read('nonce'), config: read('config') };
}
