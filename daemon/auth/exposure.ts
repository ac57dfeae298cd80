import { AUTH_CLASSES, type ExposureRuleView, type ExposureView } from '../contract/auth.ts';
import { CLASS_MEANINGS, type RouteRow } from '../contract/routes.ts';
import type { RefusedOrigin } from './refused-origins.ts';

type Row = RouteRow & { readonly id: string };

export interface ExposureInput {
  readonly rows: readonly Row[];
  readonly memoryClass: 'admin' | 'client';
  readonly enforcement: ExposureView['enforcement'];
  readonly listener: { bindHost: string; port: number; loopback: boolean };
  readonly refusedOrigins: readonly RefusedOrigin[];
}

/** A path that is not in the table is admin (docs/spec/specification.md#deny-by-default). */
const CATCH_ALL: ExposureRuleView = {
  id: 'catch-all',
  label: 'Anything else',
  auth_class: 'admin',
  methods: ['*'],
  pattern: '*',
  kind: 'api',
  summary: 'Every path and method that no rule above names (deny by default)',
};

/** HEAD has the class of GET. */
const methodsOf = ({ method }: Row): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

/** Writes parameters in braces, like the paths in docs/spec/specification.md#v1-routes. */
const inBraces = (pattern: string): string => pattern.replace(/[:*](\w+)/g, '{$1}');

function ruleOf(row: Row, memoryClass: 'admin' | 'client'): ExposureRuleView {
  return {
    id: row.id,
    label: `${row.method} ${inBraces(row.path)}`,
    auth_class: row.auth === 'memory' ? memoryClass : row.auth,
    methods: methodsOf(row),
    pattern: row.path,
    kind: row.kind,
    summary: row.summary,
  };
}

/**
 * Returns the class of every route, from the table that the router and the guard use: rules in evaluation
 * order, the catch-all last. The open allowlist names the open endpoints. The static pages of the dashboard
 * are open rules too, but serve no data.
 */
export function exposureOf({
  rows,
  memoryClass,
  enforcement,
  listener,
  refusedOrigins,
}: ExposureInput): ExposureView {
  const open = rows.filter((row) => row.auth === 'open' && row.kind !== 'shell');
  return {
    classes: AUTH_CLASSES.map((name) => ({ name, meaning: CLASS_MEANINGS[name] })),
    rules: [...rows.map((row) => ruleOf(row, memoryClass)), CATCH_ALL],
    open_allowlist: open.map(({ method, path }) => ({ method, path: inBraces(path) })),
    enforcement,
    listener: { bind_host: listener.bindHost, port: listener.port, loopback: listener.loopback },
    refused_origins: [...refusedOrigins],
  };
}
