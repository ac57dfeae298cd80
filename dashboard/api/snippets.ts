import { pythonLiteral, shellQuote } from './literals.ts';
import { pythonArguments } from './python-parameters.ts';
import type { SnippetRoute } from './snippet-route.ts';

export type Language = 'curl' | 'javascript' | 'python';

export interface SnippetFacts {
  /** Origin of the gateway, without a slash at the end. */
  base: string;
  /** Whether a key is required; the sample then reads it from the environment. */
  key: boolean;
  /** The route; chat by default. */
  route?: SnippetRoute;
  /** The body of the request. */
  body: Record<string, unknown>;
  /** Writes the body in one line. */
  short?: boolean;
}

interface RouteRow {
  readonly path: string;
  /** The method of the OpenAI clients; null when they have none, so that `post` is used. */
  readonly call: string | null;
  /** curl options for a binary response. */
  readonly save?: (body: Record<string, unknown>) => string;
  /** Code that uses `answer`. */
  readonly javascript: (body: Record<string, unknown>) => string[];
  readonly python: (body: Record<string, unknown>) => string[];
}

const stream = (body: Record<string, unknown>): boolean => body.stream === true;
/** The audio file that a sample writes. */
const soundFile = ({ response_format: format }: Record<string, unknown>): string =>
  `speech.${typeof format === 'string' ? format : 'mp3'}`;
const print = (what: string) => ({
  javascript: () => [`console.log(answer.${what});`],
  python: () => [`print(answer.${what})`],
});
const words = (
  delta: string,
  pythonDelta: string,
  whole: string,
): Pick<RouteRow, 'javascript' | 'python'> => ({
  javascript: (body) =>
    stream(body)
      ? [
          'for await (const chunk of answer) {',
          `  process.stdout.write(chunk.choices[0]?.${delta} ?? '');`,
          '}',
        ]
      : [`console.log(answer.choices[0].${whole});`],
  python: (body) =>
    stream(body)
      ? [
          'for chunk in answer:',
          '    if chunk.choices:',
          `        print(chunk.choices[0].${pythonDelta} or "", end="", flush=True)`,
        ]
      : [`print(answer.choices[0].${whole})`],
});

const ROUTES: Readonly<Record<SnippetRoute, RouteRow>> = {
  chat: {
    path: '/chat/completions',
    call: 'chat.completions.create',
    ...words('delta?.content', 'delta.content', 'message.content'),
  },
  completion: { path: '/completions', call: 'completions.create', ...words('text', 'text', 'text') },
  embeddings: { path: '/embeddings', call: 'embeddings.create', ...print('data[0].embedding') },
  rerank: {
    path: '/rerank',
    call: null,
    javascript: () => ['console.log(answer.results);'],
    python: () => ['print(answer.json()["results"])'],
  },
  speech: {
    path: '/audio/speech',
    call: 'audio.speech.create',
    save: (body) => ` -o ${soundFile(body)}`,
    javascript: (body) => [
      "const { writeFile } = await import('node:fs/promises');",
      `await writeFile('${soundFile(body)}', Buffer.from(await answer.arrayBuffer()));`,
    ],
    python: (body) => [`with open("${soundFile(body)}", "wb") as file:`, '    file.write(answer.read())'],
  },
  image: { path: '/images/generations', call: 'images.generate', ...print('data[0].url') },
};

const rowOf = ({ route = 'chat' }: SnippetFacts): RouteRow => ROUTES[route];

/** curl options that send the key from the environment. */
export const curlKey = (key: boolean): string[] =>
  key ? ['  -H "Authorization: Bearer $SVC_CLIENT_KEY" \\'] : [];

function curl(facts: SnippetFacts): string {
  const { base, key, body, short } = facts;
  const row = rowOf(facts);
  const save = row.save?.(body) ?? '';
  return [
    `curl${stream(body) ? ' -N' : ''}${save} ${base}/v1${row.path} \\`,
    ...curlKey(key),
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellQuote(JSON.stringify(body, null, short ? 0 : 2))}`,
  ].join('\n');
}

/** The lines that create the OpenAI client. */
export const javascriptClient = (base: string, key: boolean): string[] => [
  "import OpenAI from 'openai';",
  '',
  'const client = new OpenAI({',
  `  baseURL: '${base}/v1',`,
  `  apiKey: ${key ? 'process.env.SVC_CLIENT_KEY' : "'none'"},`,
  '});',
];

function javascript(facts: SnippetFacts): string {
  const row = rowOf(facts);
  const body = JSON.stringify(facts.body, null, 2);
  const request =
    row.call === null ? `client.post('${row.path}', { body: ${body} })` : `client.${row.call}(${body})`;
  return [
    ...javascriptClient(facts.base, facts.key),
    `const answer = await ${request};`,
    ...row.javascript(facts.body),
  ].join('\n');
}

/** The lines that create the OpenAI client in Python. */
export const pythonClient = (base: string, key: boolean, more: readonly string[] = []): string[] => [
  ...(key ? ['import os'] : []),
  ...more,
  'from openai import OpenAI',
  '',
  `client = OpenAI(base_url="${base}/v1", api_key=${key ? 'os.environ["SVC_CLIENT_KEY"]' : '"none"'})`,
];

function python(facts: SnippetFacts): string {
  const row = rowOf(facts);
  const { base, key, body, route = 'chat' } = facts;
  const named = row.call === null ? null : pythonArguments(route, body);
  const args = Object.entries(named ?? {}).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`,
  );
  const bare = [`answer = client.post("${row.path}", cast_to=httpx.Response, body=${pythonLiteral(body)})`];
  const request = named === null ? bare : [`answer = client.${row.call}(`, ...args, ')'];
  return [
    ...pythonClient(base, key, named === null ? ['import httpx'] : []),
    ...request,
    ...row.python(body),
  ].join('\n');
}

const WRITERS: Record<Language, (facts: SnippetFacts) => string> = { curl, javascript, python };

/** The request as code in a language. Contains the name of the key variable, never the key. */
export function snippetOf(language: Language, facts: SnippetFacts): string {
  return WRITERS[language](facts);
}
