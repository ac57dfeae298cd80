import { pythonLiteral } from '../../../api/literals.ts';
import type { Language } from '../../../api/snippets.ts';
import type { CodePlace } from '../parts/mode-page.tsx';

const wordsOf = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const ANSWER = { type: 'response.create' };
const address = ({ base }: CodePlace, model: string): string =>
  `${base.replace(/^http/, 'ws')}/v1/realtime?model=${encodeURIComponent(model)}`;

/** A curl command for the handshake and the first event; curl cannot speak the protocol beyond them. */
function curl(place: CodePlace, model: string): string {
  return [
    '# Handshake and first event only; see JavaScript or Python for a full session.',
    `curl -N --http1.1 ${address(place, model).replace(/^ws/, 'http')} \\`,
    ...(place.key ? ['  -H "Authorization: Bearer $SVC_CLIENT_KEY" \\'] : []),
    "  -H 'Connection: Upgrade' -H 'Upgrade: websocket' \\",
    "  -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: c3ZjLWdhdGV3YXktZGVtbw=='",
  ].join('\n');
}

function javascript(place: CodePlace, model: string, text: string): string {
  const key = place.key ? ", { headers: { authorization: 'Bearer ' + process.env.SVC_CLIENT_KEY } }" : '';
  return [
    "import WebSocket from 'ws';",
    '',
    `const socket = new WebSocket('${address(place, model)}'${key});`,
    'const send = (event) => socket.send(JSON.stringify(event));',
    "socket.on('open', () => {",
    `  send(${JSON.stringify(wordsOf(text))});`,
    `  send(${JSON.stringify(ANSWER)});`,
    '});',
    "socket.on('message', (data) => {",
    '  const event = JSON.parse(data);',
    '  // response.output_audio.delta holds PCM16 at 24,000 samples per second as base64.',
    "  if (/(text|transcript)\\.delta$/.test(event.type)) process.stdout.write(event.delta ?? '');",
    "  if (event.type === 'response.done') socket.close();",
    '});',
  ].join('\n');
}

function python(place: CodePlace, model: string, text: string): string {
  const key = place.key
    ? ', additional_headers={"Authorization": f"Bearer {os.environ[\'SVC_CLIENT_KEY\']}"}'
    : '';
  return [
    'import json',
    ...(place.key ? ['import os'] : []),
    'from websockets.sync.client import connect',
    '',
    `with connect("${address(place, model)}"${key}) as socket:`,
    `    socket.send(json.dumps(${pythonLiteral(wordsOf(text), '    ')}))`,
    `    socket.send(json.dumps(${pythonLiteral(ANSWER, '    ')}))`,
    '    for message in socket:',
    '        event = json.loads(message)',
    '        # response.output_audio.delta holds PCM16 at 24,000 samples per second as base64.',
    '        if event["type"].endswith(("text.delta", "transcript.delta")):',
    '            print(event["delta"], end="", flush=True)',
    '        if event["type"] == "response.done":',
    '            break',
  ].join('\n');
}

const WRITERS = { curl, javascript, python } as const;

/** A live conversation with one typed message, as code. */
export function voiceCode(language: Language, place: CodePlace, model: string, text: string): string {
  return WRITERS[language](place, model, text);
}
