import type { z } from 'zod';
import type { Tier } from '../../contract/auth.ts';
import type { CallerInfo } from '../../contract/caller-info.ts';
import type { RouteId } from '../../contract/routes.ts';
import type { SlotTypeName } from '../../contract/slots.ts';
import type { Memory } from '../../memory/memory.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import { isLoaded, type RoutingView } from '../dispatch/routing-view.ts';
import type { ReportedModels } from '../images/resolve-model.ts';
import type { Internal } from '../internal.ts';
import type { OmniFiles } from './files.ts';

/** The state when tools are offered. */
export interface ToolContext {
  readonly view: RoutingView;
  /** The model that the caller requested; null for the default. */
  readonly requestedModel: string | null;
  readonly attached: { readonly audio: boolean; readonly image: boolean };
  readonly reportedModels: ReportedModels;
}

export interface ToolDeps {
  readonly internal: Internal;
  readonly memory: Pick<Memory, 'add' | 'search'>;
  readonly tier: Tier;
  readonly caller?: CallerInfo | undefined;
  readonly signal: AbortSignal;
  readonly files: OmniFiles;
}

/** The output of a tool: `result` for the model, `attachment` for the caller. */
export interface ToolOutput {
  readonly result: unknown;
  readonly attachment?: Readonly<Record<string, unknown>>;
}

export interface OmniTool {
  readonly name: string;
  /**
   * The route that it uses. Callers without access to the route are not offered the tool and cannot run it.
   */
  readonly route: RouteId;
  readonly description: string;
  readonly schema: z.ZodType;
  /** Returns the models that it could use now. Without any, the tool is not offered. */
  targets(world: ToolContext): readonly string[];
  /** `args` are valid. Throws a GatewayError, or the reason of the signal. */
  run(deps: ToolDeps, args: unknown, targets: readonly string[]): Promise<ToolOutput>;
}

/** Defines a tool whose arguments are typed by its schema. */
export function tool<T extends z.ZodType>(
  row: Omit<OmniTool, 'schema' | 'run'> & {
    schema: T;
    run(deps: ToolDeps, args: z.infer<T>, targets: readonly string[]): Promise<ToolOutput>;
  },
): OmniTool {
  return { ...row, run: (deps, args, targets) => row.run(deps, args as z.infer<T>, targets) };
}

/** Returns loaded slots of a type by name, then models of that type at healthy upstreams. */
export function loadedOf({ view }: ToolContext, type: SlotTypeName): string[] {
  const slots = view.slots.filter((slot) => slot.type === type && isLoaded(slot));
  const others = view.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.filter((model) => model.type === type).map(({ id }) => id));
  return [...slots.map(({ name }) => name), ...others];
}

/** Returns whether a name refers to this slot. */
export const refersTo = (requested: string | null, slot: SlotView): boolean =>
  [slot.name, slot.model, `svc/${slot.name}`].includes(requested ?? 'agent');
