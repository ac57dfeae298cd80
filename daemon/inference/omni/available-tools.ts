import { z } from 'zod';
import type { Tier } from '../../contract/auth.ts';
import type { RouteId } from '../../contract/routes.ts';
import type { Settings } from '../../settings/settings.ts';
import { judgeInside } from '../authorize-internal.ts';
import type { Json } from '../dialects/json.ts';
import type { OmniTool, World } from './tool.ts';
import { TOOLS } from './tools.ts';

export interface Offered {
  readonly tool: OmniTool;
  readonly targets: readonly string[];
}

/** Whether a tier may call a route from inside. */
export const mayCall = (settings: Pick<Settings, 'value'>, route: RouteId, tier: Tier): boolean =>
  judgeInside(settings, route, tier) === 'pass';

/** The tools that can be run now for this tier, but for names that the caller has tools of its own for. */
export function offer(
  world: World,
  names: ReadonlySet<string>,
  may: (route: RouteId) => boolean,
): Map<string, Offered> {
  const usable = TOOLS.filter((tool) => !names.has(tool.name) && may(tool.route)).map((tool) => ({
    tool,
    targets: tool.targets(world),
  }));
  return new Map(usable.filter(({ targets }) => targets.length > 0).map((each) => [each.tool.name, each]));
}

/** A tool as a chat request offers it. */
export function asFunction({ tool, targets }: Offered): Json {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.schema) as Json;
  const names = tool.name === 'ask_model' ? ` Models: ${targets.slice(0, 32).join(', ')}.` : '';
  const description = tool.description + names;
  return { type: 'function', function: { name: tool.name, description, parameters } };
}
