import { ERRORS, type ErrorRow } from '../../daemon/contract/errors.ts';
import { row } from './markdown.ts';

const line = ([code, { status, message, advice }]: [string, ErrorRow]): string =>
  row(`\`${code}\``, String(status), message, advice);

/** The catalogue of errors, grouped by the part of the code before the dot. */
export function errorsPage(): string {
  const groups = Map.groupBy(Object.entries<ErrorRow>(ERRORS), ([code]) => code.split('.')[0] ?? code);
  const sections = [...groups].map(([name, rows]) =>
    [
      `## ${name}`,
      '',
      row('code', 'status', 'message', 'what to do'),
      row('---', '---', '---', '---'),
      ...rows.map(line),
      '',
    ].join('\n'),
  );
  return `<!-- Made by npm run docs from daemon/contract/errors.ts. Do not edit. -->

# Errors

For everyone who writes a client. Every error of the gateway has one of these codes in \`error.code\`. The message can be more
specific than the one here, and \`error.details\` holds the facts. Errors inside an event stream have the same form.

${sections.join('\n')}`;
}
