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

/** Whether a tier may call a route from inside. */
export const canCall = (settings: Pick<Settings, 'value'>, route: RouteId, tier: Tier): boolean =>
  authorizeInternal(settings, route, tier) === 'pass';

/** The tools that can be run now for this tier, but for names that the caller has tools of its own for. */
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

/** A tool as a chat request offers it. */
export function toFunction({ tool, targets }: AvailableTool): Json {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.schema) as Json;
  const names = tool.name === 'ask_model' ? ` Models: ${targets.slice(0, 32).join(', ')}.` : '';
  const description = tool.description + names;
  return { type: 'function', function: { name: tool.name, description, parameters } };
}
