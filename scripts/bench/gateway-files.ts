import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyEmbed } from '../../daemon/models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../../daemon/models/testing/gguf/writer.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
/** Chat slots of the gateway under test. Each serves 64 concurrent requests, the maximum of a slot file. */
export const LANES: readonly string[] = [
  'agent',
  ...Array.from({ length: 15 }, (_, index) => `lane-${index + 1}`),
];
const PER_LANE = 64;
/** The embedding model, and the slots that the gateway attaches to: a speech-to-text engine, and an embedding engine. */
export const VECTORS = 'bench-vectors';
export const TRANSCRIBER = 'stt';
export const ATTACHED_EMBEDDER = 'attached-embed';
export const ATTACHED_VECTORS = 'attached-vectors';

const PARALLEL = `parallel = ${PER_LANE}\n`;

/** The slot files of the gateway under test, by slot. */
function slotFiles(upstream: string): Record<string, string> {
  // The variable differs, because slots with equal settings share one engine and its limit of concurrent requests.
  const lane = (name: string): string =>
    `${PARALLEL}context = 512\n${name === 'agent' ? '' : 'model = "svc-demo"\nautoload = true\n'}[env]\nLANE = "${name}"\n`;
  const attached = `engine = "custom"\nrunner = "attach"\nurl = "${upstream}"\nautoload = true\n${PARALLEL}`;
  return {
    ...Object.fromEntries(LANES.map((name) => [name, lane(name)])),
    embed: `type = "embedding"\nmodel = "${VECTORS}"\nautoload = true\n${PARALLEL}`,
    [ATTACHED_EMBEDDER]: `type = "embedding"\nmodel = "${ATTACHED_VECTORS}"\n${attached}`,
    [TRANSCRIBER]: `type = "stt"\n${attached}`,
  };
}

/** Writes the slot files and models of the gateway under test. */
export function writeHome(home: string, upstream: string): void {
  const [slots, models] = [join(home, 'config', 'slots'), join(home, 'state', 'models')];
  for (const folder of [slots, models]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(models, `${VECTORS}.gguf`), encodeGguf(tinyEmbed({ name: VECTORS })));
  for (const [name, file] of Object.entries(slotFiles(upstream)))
    writeFileSync(join(slots, `${name}.toml`), file);
}
