import { pythonLiteral, shellQuote } from '../../../api/literals.ts';
import { curlKey, javascriptClient, type Language, pythonClient } from '../../../api/snippets.ts';
import type { CodePlace } from '../parts/mode-page.tsx';

/** Form fields other than the file. */
export type TranscriptionFields = Readonly<Record<string, string>>;

const FILE = 'recording.wav';

function curl({ base, key }: CodePlace, fields: TranscriptionFields): string {
  return [
    `curl ${base}/v1/audio/transcriptions \\`,
    ...curlKey(key),
    ...Object.entries(fields).map(([name, value]) => `  -F ${shellQuote(`${name}=${value}`)} \\`),
    `  -F file=@${FILE}`,
  ].join('\n');
}

const plainText = ({ response_format: format }: TranscriptionFields): boolean =>
  format !== undefined && !format.endsWith('json');

function javascript({ base, key }: CodePlace, fields: TranscriptionFields): string {
  const rows = Object.entries(fields).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
  return [
    "import { createReadStream } from 'node:fs';",
    ...javascriptClient(base, key),
    'const answer = await client.audio.transcriptions.create({',
    `  file: createReadStream('${FILE}'),`,
    ...rows,
    '});',
    `console.log(${plainText(fields) ? 'answer' : 'answer.text'});`,
  ].join('\n');
}

function python({ base, key }: CodePlace, fields: TranscriptionFields): string {
  const rows = Object.entries(fields).map(([name, value]) => `    ${name}=${pythonLiteral(value)},`);
  return [
    ...pythonClient(base, key),
    'answer = client.audio.transcriptions.create(',
    `    file=open("${FILE}", "rb"),`,
    ...rows,
    ')',
    `print(${plainText(fields) ? 'answer' : 'answer.text'})`,
  ].join('\n');
}

const WRITERS = { curl, javascript, python } as const;

/** A transcription request as code, with a placeholder file name. */
export function transcriptionCode(language: Language, place: CodePlace, fields: TranscriptionFields): string {
  return WRITERS[language](place, fields);
}
