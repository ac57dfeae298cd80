import { QUERIES } from '../../daemon/contract/queries.ts';
import { CLASS_MEANINGS, type MatchedRoute, routeRows } from '../../daemon/contract/routes.ts';
import { REQUEST_SCHEMAS } from '../../daemon/contract/schemas.ts';
import { row } from './markdown.ts';

const inBraces = (path: string): string => path.replace(/[:*](\w+)/g, '{$1}');

/** The form of a response that is not plain JSON. */
const KINDS: Partial<Record<MatchedRoute['kind'], string>> = {
  sse: 'events',
  inference: 'as the engine',
  websocket: 'WebSocket',
  text: 'text',
  image: 'image',
  hint: '404',
};

/** The keys of a body with a schema of the gateway. */
function bodyOf({ id, body }: MatchedRoute): string {
  const schema = REQUEST_SCHEMAS[id];
  if (schema !== undefined && 'shape' in schema) {
    return Object.keys(schema.shape as object)
      .map((key) => `\`${key}\``)
      .join(', ');
  }
  return body === 'inference' ? 'JSON' : body === 'audio' ? 'multipart' : '';
}

const line = (each: MatchedRoute): string =>
  row(
    `\`${each.method} ${inBraces(each.path)}\``,
    each.auth === 'memory' ? '`memory_class`' : each.auth,
    bodyOf(each),
    KINDS[each.kind] ?? 'JSON',
    each.summary,
  );

const queryLines = ({ id, method, path }: MatchedRoute): string[] =>
  Object.entries(QUERIES[id] ?? {}).map(([name, meaning]) =>
    row(`\`${method} ${inBraces(path)}\``, `\`${name}\``, meaning),
  );

/** Returns every route in evaluation order, from the table that the router and the guard use. */
export function routesPage(): string {
  const rows = routeRows().filter(({ kind }) => kind !== 'shell');
  const classes = Object.entries(CLASS_MEANINGS).map(([name, meaning]) => row(name, meaning));
  return `<!-- Made by npm run docs from daemon/contract/routes.ts. Do not edit. -->

# Routes

For everyone who calls the API: every route, in the order in which it is matched. \`GET /api/auth/exposure\` returns the same table,
and \`GET /api/openapi.json\` describes it as OpenAPI 3.1. A path that is not listed has the class admin. Pages of the dashboard are
left out.

${row('class', 'meaning')}
${row('---', '---')}
${classes.join('\n')}

${row('route', 'class', 'body', 'response', 'what it does')}
${row('---', '---', '---', '---', '---')}
${rows.map(line).join('\n')}

## Query parameters

${row('route', 'parameter', 'meaning (without it)')}
${row('---', '---', '---')}
${rows.flatMap(queryLines).join('\n')}
`;
}
