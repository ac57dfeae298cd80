import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tinyChat } from '../../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../daemon/models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../../daemon/models/testing/gguf/tiny-rerank.ts';
import { encodeGguf } from '../../daemon/models/testing/gguf/writer.ts';
import type { Gateway } from '../../daemon/test/harness/gateway.ts';
import { startTones } from '../../daemon/test/harness/tone-gateway.ts';

/** The fixed reply of the chat model. */
export const REPLY = 'Good morning to you. All is well in this house today, thank you for asking.';
/** A reply of several minutes, for tests that interrupt it. */
const SPEECH = Array.from({ length: 200 }, (_, at) => `word${at}${at % 10 === 9 ? '.' : ''}`).join(' ');

/**
 * Starts a gateway with a tiny real engine for each kind of request: chat (`agent`, and `orator` with a very long reply),
 * embeddings, reranking, a tone voice and a tone recogniser. `files` may add slots.
 */
export async function startStudio(files: Record<string, string> = {}): Promise<Gateway> {
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-'));
  const models = join(home, 'state', 'models');
  mkdirSync(models, { recursive: true, mode: 0o700 });
  const put = (name: string, model: Parameters<typeof encodeGguf>[0]): void =>
    writeFileSync(join(models, `${name}.gguf`), encodeGguf(model));
  put('talker', tinyChat({ reply: REPLY, tool: { name: 'get_time', args: { zone: 'UTC' } } }));
  put('orator', tinyChat({ name: 'orator', reply: SPEECH }));
  put('vectors', tinyEmbed());
  put('ranks', tinyRerank());
  return startTones({ home, files: { 'config/slots/agent.toml': 'model = "talker"\n', ...files } });
}

/** Speaks a text with the tone voice and returns a WAV file. The first call loads the voice. */
export async function spoken(gateway: Gateway, input: string): Promise<Buffer> {
  const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', input, response_format: 'wav' }),
  });
  if (!answer.ok) throw new Error(`no speech: ${await answer.text()}`);
  return Buffer.from(await answer.arrayBuffer());
}
