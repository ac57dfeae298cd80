import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PATH } from '../../lib/process/run-command.ts';
import { writeToneRecogniser, writeToneVoice } from '../../models/onnx/testing/tone-folders.ts';
import { type Gateway, type GatewayOptions, QUIET_FILE, startGateway } from './gateway.ts';
import { modelFolder, newHome } from './home.ts';

/** The text that the tone voice encodes and the tone recogniser decodes exactly: not speech, but real engines. */
export const TONE_TEXT = 'good morning, llama 42.';

/** A gateway with the tone voice and the tone recogniser in its model folder; slots `tts` and `stt` serve them. */
export async function startTones(options: GatewayOptions = {}): Promise<Gateway> {
  const home = options.home ?? newHome();
  const models = modelFolder(home);
  writeToneVoice(join(models, 'tone-voice'), { speakers: 2 });
  writeToneRecogniser(join(models, 'tone-ear'));
  return startGateway({ ...options, home, files: { ...QUIET_FILE, ...options.files } });
}

/** Returns the path of a program of this machine, or null. */
export const findProgram = (name: string): string | null =>
  DEFAULT_PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null;

/** Returns the spool files that a process has open after they were unlinked. */
export function unlinkedSpoolFiles(pid: number): string[] {
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

/** Returns the speech of a text by the tone voice, as a microphone would send it. */
export async function synthesize(gateway: Gateway, input: string): Promise<Buffer> {
  const response = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', input, response_format: 'pcm' }),
  });
  if (response.status !== 200) throw new Error(`the tone voice answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
