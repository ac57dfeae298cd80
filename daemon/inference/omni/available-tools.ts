import { z } from 'zod';
import type { Tier } from '../../contract/auth.ts';
import type { RouteId } from '../../contract/routes.ts';
import type { Settings } from '../../settings/settings.ts';
import { authorizeInternal } from '../authorize-internal.ts';
import type { Json } from '../dialects/json.ts';
import type { OmniTool, ToolContext } from './tool.ts';
import { TOOLS } from './tools.ts';

export interface AvailableTool {
  readonly tool: OmniTool;
  readonly targets: readonly string[];
}

/** Returns whether a tier may call a route internally. */
export const canCall = (settings: Pick<Settings, 'value'>, route: RouteId, tier: Tier): boolean =>
  authorizeInternal(settings, route, tier) === 'pass';

/** Returns the tools that can run now for this tier, except names of the caller's own tools. */
export function availableTools(
  world: ToolContext,
  names: ReadonlySet<string>,
  isAllowed: (route: RouteId) => boolean,
): Map<string, AvailableTool> {
  const usable = TOOLS.filter((tool) => !names.has(tool.name) && isAllowed(tool.route)).map((tool) => ({
    tool,
    targets: tool.targets(world),
  }));
  return new Map(usable.filter(({ targets }) => targets.length > 0).map((each) => [each.tool.name, each]));
}

/** Returns whether a tool exists, but not for a caller with these rights. */
export const isForbidden = (name: string, isAllowed: (route: RouteId) => boolean): boolean =>
  TOOLS.some((tool) => tool.name === name && !isAllowed(tool.route));

/** Returns a tool in the form of a chat request. */
export function toFunction({ tool, targets }: AvailableTool): Json {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.schema) as Json;
  const names = tool.name === 'ask_model' ? ` Models: ${targets.slice(0, 32).join(', ')}.` : '';
  const description = tool.description + names;
  return { type: 'function', function: { name: tool.name, description, parameters } };
}
