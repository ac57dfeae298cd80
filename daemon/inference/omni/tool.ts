import type { z } from 'zod';
import type { Tier } from '../../contract/auth.ts';
import type { RouteId } from '../../contract/routes.ts';
import type { SlotTypeName } from '../../contract/slots.ts';
import type { Memory } from '../../memory/memory.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import type { DrawableModels } from '../catalogue.ts';
import { isLoaded, type RoutingView } from '../dispatch/routing-view.ts';
import type { Internal } from '../internal.ts';
import type { OmniFiles } from './files.ts';

/** What is there when tools are offered. */
export interface ToolContext {
  readonly view: RoutingView;
  /** The model that the caller asked for; null: the usual one. */
  readonly requestedModel: string | null;
  readonly attached: { readonly audio: boolean; readonly image: boolean };
  readonly drawableModels: DrawableModels;
}

export interface ToolDeps {
  readonly internal: Internal;
  readonly memory: Pick<Memory, 'add' | 'search'>;
  readonly tier: Tier;
  readonly signal: AbortSignal;
  readonly files: OmniFiles;
}

/** What a tool made: `result` for the model, `attachment` for the caller. */
export interface ToolOutput {
  readonly result: unknown;
  readonly attachment?: Readonly<Record<string, unknown>>;
}

export interface OmniTool {
  readonly name: string;
  /** The route behind it: whoever may not call that is not offered the tool, and it is not run for them. */
  readonly route: RouteId;
  readonly description: string;
  readonly schema: z.ZodType;
  /** The models that it could ask now; none: it is not offered. */
  targets(world: ToolContext): readonly string[];
  /** `args` have passed the schema. Throws a GatewayError, or the signal's reason. */
  run(deps: ToolDeps, args: unknown, targets: readonly string[]): Promise<ToolOutput>;
}

/** A tool whose arguments are typed by its schema. */
export function tool<T extends z.ZodType>(
  row: Omit<OmniTool, 'schema' | 'run'> & {
    schema: T;
    run(deps: ToolDeps, args: z.infer<T>, targets: readonly string[]): Promise<ToolOutput>;
  },
): OmniTool {
  return { ...row, run: (deps, args, targets) => row.run(deps, args as z.infer<T>, targets) };
}

/** Loaded slots of a type by name, then models of that type of healthy upstreams. */
export function loadedOf({ view }: ToolContext, type: SlotTypeName): string[] {
  const slots = view.slots.filter((slot) => slot.type === type && isLoaded(slot));
  const others = view.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.filter((model) => model.type === type).map(({ id }) => id));
  return [...slots.map(({ name }) => name), ...others];
}

/** Whether a name means this slot. */
export const refersTo = (asked: string | null, slot: SlotView): boolean =>
  [slot.name, slot.model, `svc/${slot.name}`].includes(asked ?? 'agent');
