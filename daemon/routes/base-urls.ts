import { forwardedTls } from '../auth/client-address.ts';
import { GatewayError } from '../contract/errors.ts';
import { ROUTES, type RouteId, type RouteRow, routeRows } from '../contract/routes.ts';
import type { RouteDeps } from './deps.ts';
import type { Call, Handler } from './handler.ts';

type HintId = Extract<RouteId, `hint.${string}`>;

/** The routes of `/v1` with fixed paths. */
const KNOWN: ReadonlySet<string> = new Set(
  Object.values(ROUTES as Readonly<Record<string, RouteRow>>)
    .map(({ path }) => path)
    .filter((path) => path.startsWith('/v1/') && !/[:*]/.test(path) && !path.endsWith('/')),
);

/** The prefixes that clients add or forget: any number of `/v1`, and Azure's deployment. */
const PREFIX = /^(?:\/openai(?:\/deployments\/[^/]+)?)?(?:\/v1)*(?=\/)/;

/** Returns the route of `/v1` that a wrong path means; null when it means none. */
export function intendedRoute(path: string): string | null {
  const clean = path.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  const route = `/v1${clean.replace(PREFIX, '')}`;
  return KNOWN.has(route) ? route : null;
}

/**
 * Returns what to type in place of a wrong path. `base`: scheme and host of the gateway, as the caller knows
 * them. The path is not repeated, because it may contain a secret in any encoding.
 */
export function baseUrlHint(path: string, base: string): string {
  const route = intendedRoute(path);
  const use = route === null ? '' : ` Use ${base}${route}.`;
  return `There is no route at this path.${use} The base URL is ${base}/v1 for clients of OpenAI's API, and ${base} for clients of Anthropic's API.`;
}

/** Returns what to choose in a client of Ollama. */
export const ollamaHint = (base: string): string =>
  `This is svc-gateway, not Ollama. Choose an OpenAI-compatible connection with the base URL ${base}/v1`;

/** Scheme and host of the gateway, from the request's Host. https when a trusted proxy reports it. */
export function baseOf({ auth }: Pick<RouteDeps, 'auth'>, call: Pick<Call, 'auth'>): string {
  const scheme = forwardedTls(call.auth, auth.forwarding()) ? 'https' : 'http';
  return `${scheme}://${call.auth.headers.host ?? ''}`;
}

/** Throws 404 with the right address. */
export function refuseBaseUrl(deps: Pick<RouteDeps, 'auth'>, call: Call): never {
  throw new GatewayError('route.not_found', { message: baseUrlHint(call.target.path, baseOf(deps, call)) });
}

/** The rows of wrong base URLs and of Ollama's paths. No work is done behind them. */
export function hintRoutes(deps: Pick<RouteDeps, 'auth'>): Record<HintId, Handler> {
  const base: Handler = ({ state }) => refuseBaseUrl(deps, state);
  const ollama: Handler = ({ state }) => {
    throw new GatewayError('route.not_found', { message: ollamaHint(baseOf(deps, state)) });
  };
  const rows = routeRows().filter(({ kind }) => kind === 'hint');
  const handlers = rows.map(({ id }) => [id, id.startsWith('hint.ollama.') ? ollama : base] as const);
  return Object.fromEntries(handlers) as Record<HintId, Handler>;
}
