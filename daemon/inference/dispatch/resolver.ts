import type { SlotTypeName } from '../../contract/slots.ts';
import type { BalanceRule, PrefixAffinity } from './balance.ts';
import type { ModelRef } from './model-ref.ts';
import type { RoutingView } from './routing-view.ts';

/** A request to dispatch. */
export interface DispatchRequest {
  /** Path with or without `/v1`. */
  readonly path: string;
  readonly type: SlotTypeName;
  readonly modelRef: ModelRef;
  /** Set for a chat that continues a conversation. */
  readonly affinity?: PrefixAffinity | undefined;
}

/** The target of a request. */
export type Target =
  | { readonly kind: 'slot'; readonly slot: string; readonly model: string | null }
  | { readonly kind: 'upstream'; readonly upstream: string; readonly model: string };

/** The outcome of one step: it chose, it passes, or it needs the lists of cold upstreams first. */
export type Outcome =
  | {
      readonly is: 'match';
      readonly target: Target;
      readonly reason: string;
      /** What decided between several upstreams of the same rank; null or absent without others. */
      readonly rule?: BalanceRule | null;
    }
  | { readonly is: 'pass'; readonly reason: string }
  | { readonly is: 'fetch'; readonly reason: string };

/**
 * One step of the dispatcher (docs/spec/contract.md#dispatch-resolvers): a pure decision on a routing view.
 */
export type Resolver = (request: DispatchRequest, view: RoutingView) => Outcome;

export const pass = (reason: string): Outcome => ({ is: 'pass', reason });

export const toSlot = (slot: { name: string; model: string | null }, reason: string): Outcome => ({
  is: 'match',
  target: { kind: 'slot', slot: slot.name, model: slot.model },
  reason,
});

export const toUpstream = (
  upstream: string,
  model: string,
  reason: string,
  rule: BalanceRule | null = null,
): Outcome => ({
  is: 'match',
  target: { kind: 'upstream', upstream, model },
  reason,
  rule,
});
