import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../daemon/lib/fs/root.ts';

/**
 * Returns the text of the only code block with `part` on a page of `docs/guide`, so that tests run what people copy. Throws when
 * there is none or more than one.
 */
export function codeBlock(page: string, part: string): string {
  const text = readFileSync(join(ROOT, 'docs', 'guide', page), 'utf8');
  const blocks = [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.filter((block) => block.includes(part));
  if (found.length !== 1) throw new Error(`${found.length} code blocks of ${page} contain ${part}`);
  return found[0] as string;
}

/** The commands of a shell block, one a line, without their comments. */
export const commandsOf = (block: string): string[] =>
  block
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');
