import { type HeaderRow, REQUEST_HEADERS, RESPONSE_HEADERS } from '../../daemon/contract/headers.ts';
import { row } from './markdown.ts';

const table = (headers: Readonly<Record<string, HeaderRow>>): string =>
  [
    row('header', 'on', 'meaning'),
    row('---', '---', '---'),
    ...Object.entries(headers).map(([name, { on, meaning }]) => row(`\`${name}\``, on, meaning)),
  ].join('\n');

/** The headers that the gateway sets and reads. */
export function headersPage(): string {
  return `<!-- Made by npm run docs from daemon/contract/headers.ts. Do not edit. -->

# Headers

For everyone who writes a client. Security headers of the dashboard and standard headers such as \`content-type\` are left out.

## Of responses

${table(RESPONSE_HEADERS)}

## Of requests

${table(REQUEST_HEADERS)}
`;
}
