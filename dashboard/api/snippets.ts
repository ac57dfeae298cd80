export type Language = 'curl' | 'javascript' | 'python';

export interface SnippetFacts {
  /** Origin of the gateway, without a slash at the end. */
  base: string;
  /** Whether callers need a key; then the snippet reads it from the environment. */
  key: boolean;
  /** The body of the chat request. */
  body: Record<string, unknown>;
  /** The body in one line, for a command to try. */
  short?: boolean;
}

const CHAT = '/v1/chat/completions';

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A JSON value as a Python literal. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const rows = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (rows.length === 0) return `${open}${close}`;
  return `${open}\n${rows.map((row) => `${inner}${row},\n`).join('')}${indent}${close}`;
}

function curl({ base, key, body, short }: SnippetFacts): string {
  const stream = body.stream === true ? ' -N' : '';
  return [
    `curl${stream} ${base}${CHAT} \\`,
    ...(key ? ['  -H "Authorization: Bearer $SVC_CLIENT_KEY" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellWord(JSON.stringify(body, null, short ? 0 : 2))}`,
  ].join('\n');
}

function javascript({ base, key, body }: SnippetFacts): string {
  const read =
    body.stream === true
      ? [
          'for await (const chunk of answer) {',
          "  process.stdout.write(chunk.choices[0]?.delta?.content ?? '');",
          '}',
        ]
      : ['console.log(answer.choices[0].message.content);'];
  return [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: '${base}/v1',`,
    `  apiKey: ${key ? 'process.env.SVC_CLIENT_KEY' : "'none'"},`,
    '});',
    `const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});`,
    ...read,
  ].join('\n');
}

function python({ base, key, body }: SnippetFacts): string {
  const args = Object.entries(body).map(([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`);
  const read =
    body.stream === true
      ? [
          'for chunk in answer:',
          '    if chunk.choices:',
          '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
        ]
      : ['print(answer.choices[0].message.content)'];
  return [
    ...(key ? ['import os'] : []),
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${base}/v1", api_key=${key ? 'os.environ["SVC_CLIENT_KEY"]' : '"none"'})`,
    'answer = client.chat.completions.create(',
    ...args,
    ')',
    ...read,
  ].join('\n');
}

const WRITERS: Record<Language, (facts: SnippetFacts) => string> = { curl, javascript, python };

/** The same chat request in another language; it never holds a key, only the name of the variable. */
export function snippetOf(language: Language, facts: SnippetFacts): string {
  return WRITERS[language](facts);
}
