/** docs/guide/open-webui.md sets the same parts as the companion. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../lib/fs/root.ts';
import { parseEnvFile } from '../settings/env-file.ts';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';
import { companionPlan } from './companion-env.ts';
import { containerEnv } from './container-env.ts';
import { companionSeed } from './seed.ts';

/** The first shell block whose first line is a comment with this name. */
function blockOf(guide: string, name: string): string {
  const block = new RegExp(`\`\`\`sh\n# ${name}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1];
  if (block === undefined) throw new Error(`the guide has no block ${name}`);
  return block;
}

/** Parts that the guide leaves out: they are off, and what they would use. */
const OFF = /^(AUDIO_REALTIME|IMAGES_EDIT)_/;
const OF_A_PART = /^(DEFAULT_MODELS|TASK_|RAG_|AUDIO_|IMAGE|ENABLE_IMAGE_|OPENAI_)/;

it('every variable of a part has the value that the companion gets', async () => {
  const guide = readFileSync(join(ROOT, 'docs', 'guide', 'open-webui.md'), 'utf8');
  const written = parseEnvFile(Buffer.from(blockOf(guide, 'open-webui.env')));
  const seed = companionSeed({ bindHost: '127.0.0.1', port: 3000, sessionSecret: 'abc' });
  const plan = companionPlan(Buffer.from(seed), await loadSettingsReadOnly({ SVC_HOME: '/nonexistent/svc' }));
  const env = containerEnv({ plan, clientKey: 'KEY', bindHost: '127.0.0.1', port: 8080 });
  const parts = [...env].filter(([name]) => OF_A_PART.test(name) && !OFF.test(name));
  expect(parts.length).toBeGreaterThan(20);
  expect(Object.fromEntries([...written].filter(([name]) => OF_A_PART.test(name)))).toEqual(
    Object.fromEntries(parts),
  );
});

it('the guide, the unit and the tested package have the same version', () => {
  const unit = readFileSync(join(ROOT, 'systemd', 'svc-companion.service'), 'utf8');
  const version = /open-webui:v([\d.]+)$/m.exec(unit)?.[1];
  const guide = readFileSync(join(ROOT, 'docs', 'guide', 'open-webui.md'), 'utf8');
  for (const form of [`Open WebUI ${version}.`, `open-webui:v${version}`, `open-webui==${version}`])
    expect(guide).toContain(form);
  const lock = join(ROOT, 'e2e', 'system', 'torch', 'open-webui-requirements.in');
  expect(readFileSync(lock, 'utf8')).toContain(`open-webui==${version}`);
});
