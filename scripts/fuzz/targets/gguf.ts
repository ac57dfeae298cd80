import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GgufError } from '../../../daemon/models/gguf-header.ts';
import { readGgufMetadata } from '../../../daemon/models/gguf-metadata.ts';
import { assertProperty } from '../assert.ts';

const file = join(tmpdir(), `svc-fuzz-${process.pid}.gguf`);

/** Any model file gives facts, or a readable reason without a path. */
export async function fuzz(data: Buffer): Promise<void> {
  writeFileSync(file, data);
  try {
    const facts = await readGgufMetadata(file);
    assertProperty(facts.architecture !== '' && facts.sizeBytes === data.length, 'facts of another file');
    assertProperty(facts.parameters === null || facts.parameters >= 0, 'a number of weights below zero');
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    assertProperty(
      !error.message.includes(file) && error.message.length < 400,
      'a reason that is no sentence',
    );
  }
}
