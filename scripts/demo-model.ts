/**
 * Writes the demonstration model that the gateway ships, `assets/svc-demo.gguf`, and its metadata. Run it after a change of the
 * model's answer or shape, or of the metadata; `scripts/demo-model.test.ts` fails while a file differs.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DEMO_FILE, DEMO_METADATA_FILE, DEMO_MODEL_ID, DEMO_REPLY } from '../daemon/models/demo-model.ts';
import { readGgufMetadata } from '../daemon/models/gguf-metadata.ts';
import { CHATML } from '../daemon/models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';

/** The context of the model. One sequence of it takes 256 bytes per token, and a token is one byte of text. */
export const DEMO_CONTEXT = 65_536;
/** Scores far apart, so that the sentence is unchanged even at temperature 2. */
const DEMO_SCORES = [60, 40, 30];

/** Returns the bytes of the model. */
export function demoModelBytes(): Buffer {
  return encodeGguf(
    tinyChat({
      name: DEMO_MODEL_ID,
      reply: DEMO_REPLY,
      context: DEMO_CONTEXT,
      template: CHATML,
      runs: false,
      scores: DEMO_SCORES,
    }),
  );
}

/** Returns the metadata of the model in the repository as JSON, without its path. */
export async function demoMetadataText(): Promise<string> {
  const { files: _, ...metadata } = await readGgufMetadata(DEMO_FILE);
  return `${JSON.stringify(metadata, null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(DEMO_FILE, demoModelBytes());
  writeFileSync(DEMO_METADATA_FILE, await demoMetadataText());
}
