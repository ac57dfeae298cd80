/**
 * Models of other programs over a real port (docs/spec/contract.md#model-sources), scanned at start and on
 * demand.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ModelsResponse } from '../contract/models.ts';
import type { SetupView } from '../contract/setup.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const home = newHome();
const ollama = join(home, '.ollama', 'models');
const gateway = new OneGateway(() => {
  addOllamaModel('first', 'a');
  return startGateway({ home });
});

const manifestOf = (name: string) => join(ollama, 'manifests', 'registry.ollama.ai', 'library', name);

/** Adds a model to the Ollama folder; its weights have this digest. */
function addOllamaModel(name: string, digit: string): void {
  const digest = digit.repeat(64);
  mkdirSync(manifestOf(name), { recursive: true });
  mkdirSync(join(ollama, 'blobs'), { recursive: true });
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`, size: 1 }];
  writeFileSync(join(ollama, 'blobs', `sha256-${digest}`), encodeGguf(tinyEmbed()));
  writeFileSync(join(manifestOf(name), '1b'), JSON.stringify({ schemaVersion: 2, layers }));
}

async function ids(): Promise<string[]> {
  const { models } = ModelsResponse.parse((await send(gateway, 'GET', '/api/models')).json());
  return models.filter(({ demo }) => !demo).map(({ id }) => id);
}
const scan = () => send(gateway, 'POST', '/api/models/scan');

test('a model that Ollama fetches later is found by a scan, and after a restart', async () => {
  const { folders } = (await send(gateway, 'GET', '/api/setup')).json<SetupView>();
  expect(folders.find(({ path }) => path === ollama)).toMatchObject({ state: 'readable', models: 1 });
  const body = { folders: [ollama] };
  expect((await send(gateway, 'POST', '/api/setup/apply', { body })).status).toBe(200);
  expect(await ids()).toEqual(['first-1b']);

  addOllamaModel('second', 'b');
  await scan();
  expect(await ids()).toEqual(['first-1b', 'second-1b']);
  rmSync(manifestOf('first'), { recursive: true });
  await scan();
  expect(await ids()).toEqual(['second-1b']);

  await gateway.stop();
  addOllamaModel('third', 'c');
  await gateway.replace(() => startGateway({ home }));
  expect(await ids()).toEqual(['second-1b', 'third-1b']);
});
