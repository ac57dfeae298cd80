import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PATH } from '../../lib/process/run-command.ts';
import { writeToneRecogniser, writeToneVoice } from '../../models/onnx/testing/tone-folders.ts';
import { type Gateway, type GatewayOptions, QUIET_FILE, startGateway } from './gateway.ts';
import { modelFolder, newHome } from './home.ts';

/** What the tone voice says and the tone recogniser hears, to the letter; no speech, but real engines. */
export const TONE_TEXT = 'good morning, llama 42.';

/** A gateway with the tone voice and the tone recogniser in its model folder; slots `tts` and `stt` take them. */
export async function startTones(options: GatewayOptions = {}): Promise<Gateway> {
  const home = options.home ?? newHome();
  const models = modelFolder(home);
  writeToneVoice(join(models, 'tone-voice'), { speakers: 2 });
  writeToneRecogniser(join(models, 'tone-ear'));
  return startGateway({ ...options, home, files: { ...QUIET_FILE, ...options.files } });
}

/** A program of this machine by name; null when it is not installed. */
export const programNamed = (name: string): string | null =>
  DEFAULT_PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null;

/** Files that a process holds open although they have no name any more. */
export function namelessFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.includes('/spool/') && link.endsWith('(deleted)'));
}

/** What the tone voice makes of a text, as a microphone would send it. */
export async function spoken(gateway: Gateway, input: string): Promise<Buffer> {
  const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', input, response_format: 'pcm' }),
  });
  if (answer.status !== 200) throw new Error(`the tone voice answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
